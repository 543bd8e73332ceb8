import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { countRows } from "../../../test/support/engine-database.ts";
import { claimFiles, makeFile } from "../../../test/support/files.ts";
import { pushDepsOf } from "../../../test/support/push-deps.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";
import { blobFiles, slowFile } from "../../../test/support/uploads.ts";
import { minuteMs } from "../../base/clock.ts";
import { type BlobStore, BlobStoreError } from "../../blobs/blob-store.ts";
import { PendingUpload } from "./upload.ts";

const owner = signedIn(7);

const count = (fixture: TestDomain, table: string) => countRows(fixture.domain.db, table);

test("an abandoned upload is removed by the next sweep, even while the clock is not trusted", async () => {
  await using fixture = await openTestDomain();
  const upload = await fixture.domain.pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  await upload.addFile(makeFile("b.txt", "b"));
  expect(blobFiles(fixture)).toHaveLength(2);
  await upload.abandon();
  await upload.abandon();
  await expect(upload.addFile(makeFile("c.txt", "c"))).rejects.toThrow(/until it ends/);
  expect(await makeSweeper(fixture).sweep()).toMatchObject({ blobsDeleted: 2 });
  expect(blobFiles(fixture)).toEqual([]);
  expect([await count(fixture, "uploads"), await count(fixture, "blob_deletions")]).toEqual([0, 0]);
});

test("an upload abandoned within a file leaves nothing, whether the sweep or the last byte comes first", async () => {
  for (const sweepFirst of [true, false]) {
    await using fixture = await openTestDomain();
    const upload = await fixture.domain.pushes.beginUpload(owner);
    const slow = slowFile("a.txt");
    const adding = upload.addFile(slow.file);
    await slow.reached;
    await upload.abandon();
    const sweeper = makeSweeper(fixture);
    if (sweepFirst) await sweeper.sweep();
    slow.resume();
    await expect(adding).rejects.toMatchObject({ code: "unavailable" });
    await sweeper.sweep();
    expect(blobFiles(fixture)).toEqual([]);
    expect([await count(fixture, "uploads"), await count(fixture, "blob_deletions")]).toEqual([0, 0]);
  }
});

test("an upload that is swept while its last byte is written is refused and leaves nothing", async () => {
  await using fixture = await openTestDomain();
  const { blobs } = fixture.domain;
  const sweeper = makeSweeper(fixture);
  let sweeping = true;
  const lateSweep: BlobStore = {
    ...blobs,
    async write(key, content) {
      const bytes = await blobs.write(key, content);
      if (sweeping) {
        fixture.clock.advance(16 * minuteMs);
        await sweeper.sweep();
      }
      return bytes;
    },
  };
  const deps = pushDepsOf(fixture, { blobs: lateSweep });
  const upload = new PendingUpload(deps, owner);
  await expect(upload.addFile(makeFile("a.txt", "a"))).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/took too long/),
  });
  await upload.abandon();
  expect(blobFiles(fixture)).toEqual([]);
  sweeping = false;
  const again = new PendingUpload(deps, owner);
  await again.addFile(makeFile("a.txt", "a"));
  expect(blobFiles(fixture)).toHaveLength(1);
});

test("a stalled file is swept and refused; a file in progress renews its record and stays", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const sweeper = makeSweeper(fixture);
  const stalled = await pushes.beginUpload(owner);
  const slow = slowFile("a.txt");
  const adding = stalled.addFile(slow.file);
  await slow.reached;
  fixture.clock.advance(15 * minuteMs + 1);
  expect(await sweeper.sweep()).toMatchObject({ orphansAbandoned: 1, blobsDeleted: 1 });
  slow.resume();
  await expect(adding).rejects.toMatchObject({ code: "unavailable", message: expect.stringMatching(/took too long/) });
  // Also refused with a payload, because the sender assumes that the push contains the file.
  await expect(pushes.create({ upload: stalled, payload: "x" }, owner)).rejects.toThrow(/A file of the upload failed/);
  expect(blobFiles(fixture)).toEqual([]);

  const alive = await pushes.beginUpload(owner);
  await alive.addFile(makeFile("first.txt", "first"));
  async function* flowing(): AsyncGenerator<Uint8Array> {
    for (let minute = 0; minute < 60; minute += 1) {
      fixture.clock.advance(minuteMs);
      if (minute % 5 === 4) expect(await sweeper.sweep()).toMatchObject({ orphansAbandoned: 0 });
      yield Buffer.from("x");
    }
  }
  await alive.addFile({ filename: "long.txt", contentType: "text/plain", content: flowing() });
  const { urlToken } = await pushes.create({ upload: alive }, owner);
  expect((await claimFiles(pushes, urlToken, stranger)).map((file) => file.sizeBytes)).toEqual([5, 60]);
});

test("an upload swept before its push is created is clearly refused and leaves nothing incomplete", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const upload = await pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  fixture.clock.advance(15 * minuteMs + 1);
  await makeSweeper(fixture).sweep();
  await expect(pushes.create({ upload }, owner)).rejects.toMatchObject({ code: "unavailable" });
  expect(
    await Promise.all(["pushes", "payloads", "files", "row_secrets"].map((table) => count(fixture, table))),
  ).toEqual([0, 0, 0, 0]);
  expect(blobFiles(fixture)).toEqual([]);
});

test("orphaned uploads of a dead process are removed later", async () => {
  await using fixture = await openTestDomain();
  const upload = await fixture.domain.pushes.beginUpload(owner);
  await upload.addFile(makeFile("a.txt", "a"));
  const sweeper = makeSweeper(fixture);
  fixture.clock.advance(15 * minuteMs);
  expect(await sweeper.sweep()).toMatchObject({ orphansAbandoned: 0 });
  fixture.clock.advance(1);
  expect(await sweeper.sweep()).toMatchObject({ orphansAbandoned: 1, blobsDeleted: 1 });
  expect(blobFiles(fixture)).toEqual([]);
});

test("a full or read-only disk is unavailability; any other failure is a bug", async () => {
  await using fixture = await openTestDomain();
  const failing = (error: Error): BlobStore => ({
    ...fixture.domain.blobs,
    write: async () => {
      throw error;
    },
  });
  for (const code of ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EACCES"]) {
    const blobs = failing(Object.assign(new Error(code), { code }));
    const upload = new PendingUpload(pushDepsOf(fixture, { blobs }), owner);
    await expect(upload.addFile(makeFile("a.txt", "a"))).rejects.toMatchObject({ code: "unavailable" });
    await upload.abandon();
  }
  const bug = new TypeError("x is not a function");
  const upload = new PendingUpload(pushDepsOf(fixture, { blobs: failing(bug) }), owner);
  await expect(upload.addFile(makeFile("a.txt", "a"))).rejects.toBe(bug);
  expect(upload.fileCount).toBe(0);
});

test("an unreachable object store is unavailability, too", async () => {
  await using fixture = await openTestDomain();
  const outOfReach = new BlobStoreError("The object store gave no answer.", "ECONNREFUSED");
  const blobs: BlobStore = {
    ...fixture.domain.blobs,
    write: async () => {
      throw outOfReach;
    },
  };
  const upload = new PendingUpload(pushDepsOf(fixture, { blobs }), owner);
  await expect(upload.addFile(makeFile("a.txt", "a"))).rejects.toMatchObject({
    code: "unavailable",
    retryAfterSeconds: 60,
    cause: outOfReach,
  });
});

test("an upload that was swept leaves no blob behind, even if the store cannot delete it at that moment", async () => {
  await using fixture = await openTestDomain();
  const { blobs } = fixture.domain;
  const sweeper = makeSweeper(fixture);
  const stubborn: BlobStore = {
    ...blobs,
    async write(key, content) {
      const bytes = await blobs.write(key, content);
      fixture.clock.advance(16 * minuteMs);
      await makeSweeper(fixture, { blobs: { ...blobs, delete: async () => undefined } }).sweep();
      return bytes;
    },
    delete: async () => {
      throw new BlobStoreError("The object store gave no answer.", "ECONNREFUSED");
    },
  };
  const upload = new PendingUpload(pushDepsOf(fixture, { blobs: stubborn }), owner);
  await expect(upload.addFile(makeFile("a.txt", "a"))).rejects.toMatchObject({ code: "unavailable" });
  expect(blobFiles(fixture)).toHaveLength(1);
  fixture.clock.advance(16 * minuteMs);
  expect(await sweeper.sweep()).toMatchObject({ orphansAbandoned: 1, blobsDeleted: 1 });
  expect(blobFiles(fixture)).toEqual([]);
});

test("each further file of an upload renews one record, all of them only after a minute", async () => {
  await using fixture = await openTestDomain();
  const { store } = fixture.domain;
  const renewed: number[] = [];
  const deps = pushDepsOf(fixture, {
    store: {
      ...store,
      renewUploads(records, now) {
        renewed.push(records.length);
        return store.renewUploads(records, now);
      },
    },
  });
  const upload = new PendingUpload(deps, owner);
  for (const name of ["a", "b", "c"]) await upload.addFile(makeFile(name, name));
  fixture.clock.advance(minuteMs);
  await upload.addFile(makeFile("d", "d"));
  await upload.addFile(makeFile("e", "e"));
  // The fourth file renews all four when its first byte arrives, and its own record at its end.
  expect(renewed).toEqual([1, 1, 1, 4, 1, 1]);
});
