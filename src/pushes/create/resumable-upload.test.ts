import { describe, expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { countRows, readRows } from "../../../test/support/engine-database.ts";
import { claimFiles, readDownload } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { blobFiles } from "../../../test/support/uploads.ts";
import { hourMs, secondMs } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { BlobStore } from "../../blobs/blob-store.ts";
import { jointColumns } from "../../crypto/sealed-columns.ts";
import { segmentBytes } from "../../crypto/stream-seal.ts";
import { patternBytes } from "../../crypto/stream-test-support.ts";
import type { Actor } from "../push.ts";
import { createPushes, type Pushes } from "../pushes.ts";

const owner = signedIn(7);
const broken = new AppError("invalid_request", "The body was cut off.");

async function* chunksOf(bytes: Uint8Array, failure?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
  if (failure !== undefined) throw failure;
}

async function open(pushes: Pushes, bytes: Uint8Array, actor: Actor = owner): Promise<string> {
  const file = { filename: "plan.bin", contentType: "text/plain", sizeBytes: bytes.length };
  return (await pushes.openUpload(file, actor)).address;
}

async function send(pushes: Pushes, bytes: Uint8Array, actor: Actor = owner): Promise<string> {
  const address = await open(pushes, bytes, actor);
  const sent = await pushes.receiveUpload(address, 0, chunksOf(bytes), actor);
  expect(sent).toMatchObject({ outcome: "received", receivedBytes: bytes.length });
  return address;
}

async function pushOf(pushes: Pushes, addresses: readonly string[], actor: Actor = owner) {
  const upload = await pushes.beginUpload(actor);
  for (const address of addresses) await upload.addUploaded(address);
  return await pushes.create({ upload }, actor);
}

async function contentOf(pushes: Pushes, urlToken: string): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for (const { ticket } of await claimFiles(pushes, urlToken, stranger)) {
    const download = await pushes.openTicket(ticket, stranger);
    if (download === undefined) throw new Error("The ticket does not open.");
    found.push(await readDownload(download));
  }
  return found;
}

const blobKeyOf = async ({ domain }: TestDomain) =>
  (await readRows<{ blob_key: string }>(domain.db, "SELECT blob_key FROM resumable_uploads")).map(
    (row) => row.blob_key,
  );

/** The operations with another store of files. */
function pushesWith(fixture: TestDomain, blobs: BlobStore): Pushes {
  return createPushes(pushDepsOf(fixture, { blobs }));
}

/** A store whose writers fail, or wait, before the chunk with this number, counted over all of them. */
function failingAt(blobs: BlobStore, chunk: number, fail: () => Promise<void>): BlobStore {
  const { growing } = blobs;
  if (growing === undefined) throw new Error("The store cannot append.");
  let written = 0;
  return {
    ...blobs,
    growing: {
      ...growing,
      async append(key, position) {
        const writer = await growing.append(key, position);
        return {
          ...writer,
          async write(bytes) {
            written += 1;
            if (written === chunk) await fail();
            await writer.write(bytes);
          },
        };
      },
    },
  };
}

describe("a file that is sent in several requests", () => {
  test.each([0, 1, segmentBytes, segmentBytes + 1, 5 * segmentBytes - 7])(
    "of %i bytes becomes the file of a push without being written again",
    async (length) => {
      await using fixture = await openTestDomain();
      const { pushes, db } = fixture.domain;
      const bytes = patternBytes(length);
      const address = await open(pushes, bytes);
      let offset = 0;
      // Each request breaks off after three quarters of a segment more than the one before.
      for (let sent = 1; offset < length; sent += 1) {
        const end = Math.min(length, offset + Math.ceil(sent * 0.75 * segmentBytes));
        const content = chunksOf(bytes.subarray(offset, end), end < length ? broken : undefined);
        const receiving = pushes.receiveUpload(address, offset, content, owner);
        if (end < length) await expect(receiving).rejects.toBe(broken);
        else await receiving;
        offset = (await pushes.findUpload(address, owner))?.receivedBytes ?? -1;
        expect(offset).toBe(end < length ? Math.floor(end / segmentBytes) * segmentBytes : length);
      }
      const [blobKey] = await blobKeyOf(fixture);
      const { urlToken } = await pushOf(pushes, [address]);
      expect(await contentOf(pushes, urlToken)).toEqual([bytes]);
      expect(await readRows(db, "SELECT blob_key FROM files")).toEqual([{ blob_key: blobKey }]);
      expect(await countRows(db, "uploads")).toBe(0);
      expect(await pushes.findUpload(address, owner)).toBeUndefined();
    },
  );

  test("is taken by one push only, also by two at the same time", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const address = await send(pushes, patternBytes(10));
    const made = await Promise.allSettled([pushOf(pushes, [address]), pushOf(pushes, [address])]);
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(pushOf(pushes, [address])).rejects.toMatchObject({
      code: "invalid_fields",
      fields: { files: [/already/] },
    });
  });

  test("named twice is one file", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const address = await send(pushes, patternBytes(10));
    const { urlToken } = await pushOf(pushes, [address, address]);
    expect(await contentOf(pushes, urlToken)).toHaveLength(1);
  });

  test("is in the push that a repeated request gets", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const address = await send(pushes, patternBytes(10));
    const create = async (payload: string) => {
      const upload = await pushes.beginUpload(owner);
      await upload.addUploaded(address);
      return await pushes.create({ upload, payload, idempotencyKey: "0123456789abcdef" }, owner);
    };
    const first = await create("see file");
    expect(await create("see file")).toMatchObject({ urlToken: first.urlToken, repeated: true });
    await expect(create("another text")).rejects.toMatchObject({ fields: { idempotencyKey: expect.anything() } });
  });

  test("stays if the push is refused or abandoned", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const bytes = patternBytes(100);
    const address = await send(pushes, bytes);
    const upload = await pushes.beginUpload(owner);
    await upload.addUploaded(address);
    await expect(pushes.create({ upload, expireAfterDays: 0 }, owner)).rejects.toMatchObject({
      code: "invalid_fields",
    });
    fixture.clock.advance(hourMs);
    await makeSweeper(fixture).sweep();
    const { urlToken } = await pushOf(pushes, [address]);
    expect(await contentOf(pushes, urlToken)).toEqual([bytes]);
  });

  test("belongs to its sender, and to nobody else who has the address", async () => {
    await using fixture = await openTestDomain({ environment: { PWP__FILES__ALLOW_ANONYMOUS: "true" } });
    const { pushes } = fixture.domain;
    const bytes = patternBytes(10);
    const address = await send(pushes, bytes);
    for (const other of [signedIn(8), stranger]) {
      expect(await pushes.findUpload(address, other)).toBeUndefined();
      expect(await pushes.receiveUpload(address, 0, chunksOf(bytes), other)).toEqual({ outcome: "unknown" });
      expect(await pushes.discardUpload(address, other)).toBe(false);
      await expect(pushOf(pushes, [address], other)).rejects.toMatchObject({ code: "invalid_fields" });
    }
    const anonymous = await send(pushes, bytes, stranger);
    expect(await pushes.findUpload(anonymous, owner)).toBeUndefined();
    const { urlToken } = await pushOf(pushes, [anonymous], stranger);
    expect(await contentOf(pushes, urlToken)).toEqual([bytes]);
  });

  test("that is not complete is in no push", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(pushes, bytes);
    await pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, segmentBytes)), owner);
    await expect(pushOf(pushes, [address])).rejects.toMatchObject({
      fields: { files: ["An upload is not complete."] },
    });
  });

  test("has no more bytes than were announced", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const address = await open(pushes, patternBytes(10));
    const more = pushes.receiveUpload(address, 0, chunksOf(patternBytes(11)), owner);
    await expect(more).rejects.toMatchObject({ code: "invalid_request" });
    expect(await pushes.findUpload(address, owner)).toMatchObject({ receivedBytes: 0 });
  });
});

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
      retryAfterSeconds: 20,
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

describe("after an interruption", () => {
  test("the acknowledged bytes are sealed again under a new key, because unacknowledged ones may be sealed", async () => {
    await using fixture = await openTestDomain();
    const { domain, clock } = fixture;
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
    expect(await again()).toMatchObject({ outcome: "busy" });
    clock.advance(21 * secondMs);
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
    clock.advance(21 * secondMs);
    const second = await domain.pushes.receiveUpload(address, 0, chunksOf(bytes), owner);
    expect(second).toMatchObject({ outcome: "received", receivedBytes: bytes.length });
    gate.resolve();
    expect(await first).toEqual({ outcome: "unknown" });
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

describe("unfinished uploads", () => {
  test("are removed 24 hours after their last byte, with their key", async () => {
    await using fixture = await openTestDomain();
    const { pushes, db } = fixture.domain;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(pushes, bytes);
    fixture.clock.advance(23 * hourMs);
    await pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, segmentBytes)), owner);
    fixture.clock.advance(23 * hourMs);
    await makeSweeper(fixture).sweep();
    expect(await pushes.findUpload(address, owner)).toMatchObject({ receivedBytes: segmentBytes });
    fixture.clock.advance(hourMs);
    expect(await pushes.findUpload(address, owner)).toBeUndefined();
    await makeSweeper(fixture).sweep();
    expect(blobFiles(fixture)).toEqual([]);
    for (const table of ["uploads", "resumable_uploads", "blob_deletions"]) expect(await countRows(db, table)).toBe(0);
  });

  test("are removed at once when their sender cancels them", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const address = await send(pushes, patternBytes(10));
    expect(await pushes.discardUpload(address, owner)).toBe(true);
    expect(await pushes.discardUpload(address, owner)).toBe(false);
    await makeSweeper(fixture).sweep();
    expect(blobFiles(fixture)).toEqual([]);
  });

  test("of one sender are limited in number and bytes, separately from those of others", async () => {
    await using fixture = await openTestDomain({
      environment: { PWP__FILES__MAX_FILE_UPLOADS: "2", PWP__FILES__MAX_PUSH_BYTES: "100" },
    });
    const { pushes } = fixture.domain;
    await expect(open(pushes, patternBytes(101))).rejects.toMatchObject({ code: "too_large" });
    for (let sent = 0; sent < 3; sent += 1) await open(pushes, patternBytes(100));
    await expect(open(pushes, patternBytes(1))).rejects.toMatchObject({ code: "too_many_requests" });
    const small = await Promise.allSettled(Array.from({ length: 9 }, () => open(pushes, patternBytes(1), signedIn(8))));
    expect(small.filter(({ status }) => status === "fulfilled")).toHaveLength(6);
  });

  test("count in the quotas of their sender", async () => {
    await using fixture = await openTestDomain({
      environment: { PWP__FILES__ALLOW_ANONYMOUS: "true", PWP__ACCOUNT_BYTES_PER_DAY: "100000" },
    });
    const { pushes, store } = fixture.domain;
    const before = await store.upkeep.anonymousBytes();
    await send(pushes, patternBytes(segmentBytes), stranger);
    expect(await store.upkeep.anonymousBytes()).toBe(before + segmentBytes);
    await send(pushes, patternBytes(segmentBytes));
    await expect(send(pushes, patternBytes(segmentBytes))).rejects.toMatchObject({ code: "bytes_used_up" });
  });

  test("cannot be opened with the database, the files and the master key", async () => {
    await using fixture = await openTestDomain();
    const { pushes, vault, store, db } = fixture.domain;
    const bytes = patternBytes(2 * segmentBytes);
    const address = await open(pushes, bytes);
    await pushes.receiveUpload(address, 0, chunksOf(bytes.subarray(0, segmentBytes)), owner);
    const [row] = await readRows<{ digest: Buffer; file_id: number; sealed: Buffer }>(
      db,
      "SELECT digest, file_id, sealed FROM resumable_uploads JOIN row_secrets ON row_secrets.id = row_secret_id",
    );
    if (row === undefined) throw new Error("There is no upload.");
    const { digest, file_id: id, sealed } = row;
    const openWith = (secret: string) =>
      vault.keyring.openJointly(jointColumns.resumableUpload, { id, ownerId: 7 }, [secret], sealed);
    expect(openWith(address)).toHaveLength(32);
    expect(openWith("")).toBeUndefined();
    expect(openWith(digest.toString("base64url"))).toBeUndefined();

    await pushes.receiveUpload(address, segmentBytes, chunksOf(bytes.subarray(segmentBytes)), owner);
    await pushOf(pushes, [address]);
    // The address in a proxy's log opens nothing any more: the key that it opened is overwritten.
    const keys = await readRows<{ sealed: Buffer }>(db, "SELECT sealed FROM row_secrets");
    expect(keys.filter((kept) => kept.sealed.equals(sealed))).toEqual([]);
    expect(await store.resumableUploads.find(digest, 0)).toBeUndefined();
  });
});
