import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTestDomain } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import {
  blobKeyOf,
  broken,
  chunksOf,
  contentOf,
  failingAt,
  interrupt,
  noSpace,
  open,
  owner,
  pushesWith,
  pushOf,
  send,
  waitingToOpen,
} from "../../../test/support/resumable-uploads.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { blobFiles } from "../../../test/support/uploads.ts";
import { hourMs, secondMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import { blobPath } from "../../blobs/blob-key.ts";
import { segmentBytes } from "../../crypto/stream-seal.ts";
import { patternBytes } from "../../crypto/stream-test-support.ts";
import { blobFolder } from "../../domain.ts";
import type { Actor } from "../actor.ts";
import { createPushes, type Pushes } from "../pushes.ts";

function flipped(sealed: Buffer, at: number): Buffer {
  sealed.writeUInt8(sealed.readUInt8(at) ^ 1, at);
  return sealed;
}

describe("requests to one upload at the same time", () => {
  test("take turns: the second one waits, and continues where the first one ended", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(pushes, bytes);
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, segmentBytes + 1);
      reached.resolve();
      await gate.promise;
      throw broken;
    }
    const first = pushes.receiveUpload(address, 0, slowly(), owner);
    await reached.promise;
    expect(await pushes.receiveUpload(address, 0, chunksOf(bytes), owner)).toEqual({
      outcome: "busy",
      retryAfterSeconds: 30,
    });
    gate.resolve();
    await expect(first).rejects.toBe(broken);
    expect(await pushes.receiveUpload(address, 0, chunksOf(bytes), owner)).toEqual({
      outcome: "other_offset",
      receivedBytes: segmentBytes,
    });
    await pushes.receiveUpload(address, segmentBytes, chunksOf(bytes.subarray(segmentBytes)), owner);
    const { urlToken } = await pushOf(pushes, [address]);
    expect(await contentOf(pushes, urlToken)).toEqual([bytes]);
  });

  test("that begin together: one is received", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const bytes = patternBytes(3 * segmentBytes);
    const address = await open(pushes, bytes);
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => pushes.receiveUpload(address, 0, chunksOf(bytes), owner)),
    );
    expect(sent.filter(({ outcome }) => outcome === "received")).toHaveLength(1);
    const { urlToken } = await pushOf(pushes, [address]);
    expect(await contentOf(pushes, urlToken)).toEqual([bytes]);
  });
});

describe("a slow sender", () => {
  test("keeps its run while bytes pass, although no segment is full", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(pushes, bytes);
    const others: unknown[] = [];
    async function* slowly(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < segmentBytes; at += 10_240) {
        yield bytes.subarray(at, Math.min(at + 10_240, segmentBytes));
        fixture.clock.advance(10 * secondMs);
        others.push((await pushes.receiveUpload(address, 0, chunksOf(bytes), owner)).outcome);
      }
    }
    expect(await pushes.receiveUpload(address, 0, slowly(), owner)).toMatchObject({ receivedBytes: segmentBytes });
    expect(others).toEqual(Array(7).fill("busy"));
  });

  test("is not read any further after another request has begun", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(pushes, bytes);
    let sent = 0;
    async function* paused(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 10);
      fixture.clock.advance(31 * secondMs);
      await pushes.receiveUpload(address, 0, chunksOf(bytes), owner);
      for (; sent < 5; sent += 1) yield bytes.subarray(10, 20);
    }
    const outcome = await pushes.receiveUpload(address, 0, paused(), owner);
    expect(outcome).toEqual({ outcome: "other_offset", receivedBytes: bytes.length });
    expect(sent).toBe(0);
    expect(await contentOf(pushes, (await pushOf(pushes, [address])).urlToken)).toEqual([bytes]);
  });
});

describe("after an interruption", () => {
  test("the bytes are not copied without disk space, and a copy that fails is deleted at once", async () => {
    await using fixture = await openTestDomain();
    const { domain, clock } = fixture;
    const bytes = patternBytes(4 * segmentBytes);
    const address = await interrupt(fixture, bytes);
    const [blobKey] = await blobKeyOf(fixture);
    const rest = (pushes: Pushes) =>
      pushes.receiveUpload(address, 2 * segmentBytes, chunksOf(bytes.subarray(2 * segmentBytes)), owner);
    const asked: number[] = [];
    const capacity = {
      assertRoomFor: async () => undefined,
      async assertRoomForFile(_actor: Actor, wanted: number) {
        asked.push(wanted);
        throw unavailable("The disk is nearly full.", 60);
      },
    };
    clock.advance(31 * secondMs);
    await expect(rest(createPushes(pushDepsOf(fixture, { capacity })))).rejects.toMatchObject({ code: "unavailable" });
    expect([asked, await countRows(domain.db, "uploads")]).toEqual([[2 * segmentBytes], 1]);

    clock.advance(31 * secondMs);
    const failing = pushesWith(fixture, failingAt(domain.blobs, 2, noSpace));
    await expect(rest(failing)).rejects.toMatchObject({ code: "unavailable" });
    await makeSweeper(fixture).sweep();
    expect(blobFiles(fixture)).toEqual([`${blobKey}.part`]);

    clock.advance(31 * secondMs);
    expect(await rest(domain.pushes)).toMatchObject({ receivedBytes: bytes.length });
  });

  test("a copy that another request has overtaken is deleted at once", async () => {
    await using fixture = await openTestDomain();
    const { domain, clock } = fixture;
    const bytes = patternBytes(4 * segmentBytes);
    const address = await interrupt(fixture, bytes);
    const rest = (pushes: Pushes) =>
      pushes.receiveUpload(address, 2 * segmentBytes, chunksOf(bytes.subarray(2 * segmentBytes)), owner);
    clock.advance(31 * secondMs);
    const waiting = waitingToOpen(domain.blobs);
    const first = rest(pushesWith(fixture, waiting.blobs));
    await waiting.reached;
    clock.advance(31 * secondMs);
    expect(await rest(domain.pushes)).toMatchObject({ receivedBytes: bytes.length });
    waiting.open();
    expect(await first).toEqual({ outcome: "other_offset", receivedBytes: bytes.length });
    await makeSweeper(fixture).sweep();
    const [blobKey] = await blobKeyOf(fixture);
    expect(blobFiles(fixture)).toEqual([`${blobKey}.part`]);
    expect(await contentOf(domain.pushes, (await pushOf(domain.pushes, [address])).urlToken)).toEqual([bytes]);
  });

  test("a run that was overtaken and finds its file deleted keeps the upload", async () => {
    await using fixture = await openTestDomain();
    const { domain, clock } = fixture;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(domain.pushes, bytes);
    await domain.pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, segmentBytes)), owner);
    const rest = (pushes: Pushes) =>
      pushes.receiveUpload(address, segmentBytes, chunksOf(bytes.subarray(segmentBytes)), owner);
    const waiting = waitingToOpen(domain.blobs);
    const first = rest(pushesWith(fixture, waiting.blobs));
    await waiting.reached;
    clock.advance(31 * secondMs);
    expect(await rest(domain.pushes)).toMatchObject({ receivedBytes: bytes.length });
    await makeSweeper(fixture).sweep();
    waiting.open();
    expect(await first).toEqual({ outcome: "other_offset", receivedBytes: bytes.length });
    expect(await contentOf(domain.pushes, (await pushOf(domain.pushes, [address])).urlToken)).toEqual([bytes]);
  });

  test("before the end of a run, the last byte is not acknowledged, so the upload can be completed", async () => {
    await using fixture = await openTestDomain();
    const { domain, clock } = fixture;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(domain.pushes, bytes);
    const { resumableUploads } = domain.store;
    const progress: typeof resumableUploads.progress = async (digest, run, made, now) => {
      if (made.runUntil === null) throw new Error("The process was killed.");
      return await resumableUploads.progress(digest, run, made, now);
    };
    const store = { ...domain.store, resumableUploads: { ...resumableUploads, progress } };
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield bytes;
      clock.advance(6 * secondMs);
    }
    const killed = createPushes(pushDepsOf(fixture, { store }));
    await expect(killed.receiveUpload(address, 0, slowly(), owner)).rejects.toThrow("killed");
    clock.advance(31 * secondMs);
    const { receivedBytes = -1 } = (await domain.pushes.findUpload(address, owner)) ?? {};
    await domain.pushes.receiveUpload(address, receivedBytes, chunksOf(bytes.subarray(receivedBytes)), owner);
    expect(await contentOf(domain.pushes, (await pushOf(domain.pushes, [address])).urlToken)).toEqual([bytes]);
  });

  test("an upload does not wait for a time from before the clock was set back", async () => {
    await using fixture = await openTestDomain();
    const bytes = patternBytes(3 * segmentBytes);
    const address = await interrupt(fixture, bytes);
    fixture.clock.advance(-2 * hourMs);
    const rest = chunksOf(bytes.subarray(2 * segmentBytes));
    expect(await fixture.domain.pushes.receiveUpload(address, 2 * segmentBytes, rest, owner)).toMatchObject({
      receivedBytes: bytes.length,
    });
  });

  test("a complete upload whose file is lost does not exist for a push, nor for its sender, who begins again", async () => {
    await using fixture = await openTestDomain();
    const { pushes, blobs, db } = fixture.domain;
    const address = await send(pushes, patternBytes(10));
    const [blobKey] = await blobKeyOf(fixture);
    await blobs.delete(blobKey ?? "");
    await expect(pushOf(pushes, [address])).rejects.toMatchObject({ fields: { files: [/does not exist/] } });
    expect(await pushes.findUpload(address, owner)).toBeUndefined();
    expect([await countRows(db, "resumable_uploads"), await countRows(db, "uploads")]).toEqual([0, 0]);
  });

  test.each([
    ["whose first byte has changed", (sealed: Buffer) => flipped(sealed, 0)],
    ["whose last byte has changed", (sealed: Buffer) => flipped(sealed, sealed.length - 1)],
    ["that was cut", (sealed: Buffer) => sealed.subarray(0, -1)],
    ["that is a hole", (sealed: Buffer) => sealed.fill(0)],
  ])("no push is acknowledged with the file of an upload %s while it waited: it begins again", async (_, damage) => {
    await using fixture = await openTestDomain();
    const { pushes, db } = fixture.domain;
    for (const length of [10, 3 * segmentBytes + 1]) {
      const bytes = patternBytes(length);
      const address = await send(pushes, bytes);
      const [blobKey = ""] = await blobKeyOf(fixture);
      const path = `${join(blobFolder(fixture.domain.config), blobPath(blobKey))}.part`;
      writeFileSync(path, damage(readFileSync(path)));
      await expect(pushOf(pushes, [address])).rejects.toMatchObject({ fields: { files: [/does not exist/] } });
      expect(await pushes.findUpload(address, owner)).toBeUndefined();
      expect([await countRows(db, "resumable_uploads"), await countRows(db, "uploads")]).toEqual([0, 0]);
      expect(await contentOf(pushes, (await pushOf(pushes, [await send(pushes, bytes)])).urlToken)).toEqual([bytes]);
    }
  });

  test("the acknowledged bytes are sealed again under a new key, because unacknowledged ones may be sealed", async () => {
    await using fixture = await openTestDomain();
    const { domain } = fixture;
    const { pushes } = domain;
    const bytes = patternBytes(4 * segmentBytes);
    const address = await open(pushes, bytes);
    await pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, 2 * segmentBytes)), owner);
    const [earlierKey] = await blobKeyOf(fixture);
    const failing = pushesWith(
      fixture,
      failingAt(domain.blobs, 2, async () => {
        throw Object.assign(new Error("No space is left."), { code: "ENOSPC" });
      }),
    );
    const rest = chunksOf(bytes.subarray(2 * segmentBytes));
    await expect(failing.receiveUpload(address, 2 * segmentBytes, rest, owner)).rejects.toMatchObject({
      code: "unavailable",
    });
    const again = () =>
      pushes.receiveUpload(address, 2 * segmentBytes, chunksOf(bytes.subarray(2 * segmentBytes)), owner);
    // At once: the run has failed, so nobody is writing any more.
    expect(await again()).toMatchObject({ outcome: "received", receivedBytes: bytes.length });
    const [laterKey] = await blobKeyOf(fixture);
    expect(laterKey).not.toBe(earlierKey);
    await makeSweeper(fixture).sweep();
    expect(blobFiles(fixture)).toEqual([`${laterKey}.part`]);
    const { urlToken } = await pushOf(pushes, [address]);
    expect(await contentOf(pushes, urlToken)).toEqual([bytes]);
  });

  test("a process that was suspended while it wrote changes nothing of the request that came after it", async () => {
    await using fixture = await openTestDomain();
    const { domain, clock } = fixture;
    const bytes = patternBytes(3 * segmentBytes);
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const suspended = pushesWith(
      fixture,
      failingAt(domain.blobs, 3, async () => {
        reached.resolve();
        await gate.promise;
      }),
    );
    const address = await open(domain.pushes, bytes);
    const first = suspended.receiveUpload(address, 0, chunksOf(Buffer.alloc(bytes.length, 1)), owner);
    await reached.promise;
    clock.advance(31 * secondMs);
    const second = await domain.pushes.receiveUpload(address, 0, chunksOf(bytes), owner);
    expect(second).toMatchObject({ outcome: "received", receivedBytes: bytes.length });
    gate.resolve();
    expect(await first).toEqual({ outcome: "other_offset", receivedBytes: bytes.length });
    const { urlToken } = await pushOf(domain.pushes, [address]);
    expect(await contentOf(domain.pushes, urlToken)).toEqual([bytes]);
  });

  test("an upload whose acknowledged bytes are lost begins again", async () => {
    await using fixture = await openTestDomain();
    const { domain } = fixture;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(domain.pushes, bytes);
    await domain.pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, segmentBytes)), owner);
    const [blobKey] = await blobKeyOf(fixture);
    await domain.blobs.delete(blobKey ?? "");
    const rest = chunksOf(bytes.subarray(segmentBytes));
    expect(await domain.pushes.receiveUpload(address, segmentBytes, rest, owner)).toEqual({ outcome: "unknown" });
    expect(await countRows(domain.db, "resumable_uploads")).toBe(0);
  });
});
