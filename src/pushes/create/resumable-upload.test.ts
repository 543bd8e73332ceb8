import { describe, expect, test } from "vitest";
import { openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import {
  blobKeyOf,
  broken,
  chunksOf,
  contentOf,
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
import { hourMs } from "../../base/clock.ts";
import { segmentBytes } from "../../crypto/stream-seal.ts";
import { patternBytes } from "../../crypto/stream-test-support.ts";
import type { Database } from "../../database/database.ts";
import { rowSecrets } from "../store/tables.ts";

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

  test("leaves nothing if it is empty and the store does not take it: nobody has learned its address", async () => {
    await using fixture = await openTestDomain();
    const { db, blobs } = fixture.domain;
    const failing = pushesWith(fixture, { ...blobs, growing: { ...blobs.growing, append: noSpace } });
    for (let attempt = 0; attempt < 40; attempt += 1) {
      await expect(open(failing, Buffer.alloc(0))).rejects.toMatchObject({ code: "unavailable" });
    }
    expect([await countRows(db, "resumable_uploads"), await countRows(db, "uploads")]).toEqual([0, 0]);
    await makeSweeper(fixture).sweep();
    expect(await countRows(db, "blob_deletions")).toBe(0);
  });

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

/** Adds rows of uploads that nobody sends. */
const fillPlaces = (db: Database, count: number) =>
  changeRows(
    db,
    {
      sqlite: `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
        INSERT INTO resumable_uploads SELECT CAST(n AS BLOB), n, 0, NULL, '', 0, CAST('' AS BLOB), 0, 0, 0, 0, 0 FROM numbers`,
      postgres: `INSERT INTO resumable_uploads
        SELECT decode(lpad(to_hex(n), 16, '0'), 'hex'), n, 0, NULL, '', 0, decode('', 'hex'), 0, 0, 0, 0, 0
        FROM generate_series(1, CAST(? AS BIGINT)) AS n`,
    },
    count,
  );

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

  test("are not prolonged by requests without bytes", async () => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const address = await open(pushes, patternBytes(10));
    const before = await pushes.findUpload(address, owner);
    fixture.clock.advance(hourMs);
    const sent = await pushes.receiveUpload(address, 0, chunksOf(Buffer.alloc(0)), owner);
    expect(sent).toMatchObject({ outcome: "received", expiresAt: before?.expiresAt });
    expect(await pushes.findUpload(address, owner)).toEqual(before);
  });

  test("are refused for longer than the script waits when the server has too many", async () => {
    await using fixture = await openTestDomain();
    const { pushes, db } = fixture.domain;
    await fillPlaces(db, 10_000);
    await expect(open(pushes, patternBytes(10))).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 3600,
    });
    await changeRows(db, "DELETE FROM resumable_uploads WHERE blob_key = '1'");
    await open(pushes, patternBytes(10));
  });

  test("leave no file if they are cancelled before it is made", async () => {
    await using fixture = await openTestDomain();
    const { pushes, blobs } = fixture.domain;
    const bytes = patternBytes(10);
    const address = await open(pushes, bytes);
    const waiting = waitingToOpen(blobs);
    const sending = pushesWith(fixture, waiting.blobs).receiveUpload(address, 0, chunksOf(bytes), owner);
    await waiting.reached;
    await pushes.discardUpload(address, owner);
    await makeSweeper(fixture).sweep();
    waiting.open();
    expect(await sending).toEqual({ outcome: "unknown" });
    await makeSweeper(fixture).sweep();
    expect(blobFiles(fixture)).toEqual([]);
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

  test("of all clients in one IPv6 /48 are limited to twice those of one client, so that it does not take all places", async () => {
    await using fixture = await openTestDomain({
      environment: {
        PWP__FILES__ALLOW_ANONYMOUS: "true",
        PWP__FILES__MAX_FILE_UPLOADS: "2",
        PWP__FILES__MAX_PUSH_BYTES: "100",
      },
    });
    const { pushes } = fixture.domain;
    const opened = async (clients: readonly string[], sizeBytes: number) => {
      const all = clients.map((client) => open(pushes, patternBytes(sizeBytes), { ...stranger, client }));
      return (await Promise.allSettled(all)).filter(({ status }) => status === "fulfilled").length;
    };
    const clientsOf = (network: string) => Array.from({ length: 20 }, (_, at) => `${network}:${at.toString(16)}::/64`);
    expect(await opened(clientsOf("2001:db8:1"), 1)).toBe(12);
    expect(await opened(clientsOf("2001:db8:2"), 100)).toBe(6);
    // Neither neighbours nor IPv4 addresses share these places.
    expect(await opened(["2001:db8:10:1::/64", "2001:db8:0:1::/64", "192.0.2.1"], 1)).toBe(3);
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
      vault.keyring.openJointly(rowSecrets.seals.resumableUpload, { id, ownerId: 7 }, [secret], sealed);
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
