import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemRandom } from "../../base/random.ts";
import { type BlobStore, BlobStoreError } from "../../blobs/blob-store.ts";
import { sealStream } from "../../crypto/stream-seal.ts";
import { fileContentContext } from "../seals.ts";
import { createFileOpener, type StoredFile } from "./stored-files.ts";

const key = Buffer.alloc(32, 1);
const content = Buffer.alloc(200_000, 2);

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Files whose reads wait until they are released. */
async function openBlockedStore() {
  const parts: Buffer[] = [];
  const sealed = sealStream(key, fileContentContext(1), chunksOf(content), systemRandom);
  for await (const part of sealed) parts.push(Buffer.from(part));
  const bytes = Buffer.concat(parts);
  const state = { reading: 0, readingMax: 0, bytesRead: 0 };
  const released = Promise.withResolvers<void>();
  const blobs: Pick<BlobStore, "read"> = {
    async *read(_blobKey, { start, end }, signal) {
      state.reading += 1;
      state.readingMax = Math.max(state.readingMax, state.reading);
      try {
        const aborted = Promise.withResolvers<void>();
        signal?.addEventListener("abort", () => aborted.resolve());
        if (signal?.aborted !== true) await Promise.race([released.promise, aborted.promise]);
        if (signal?.aborted === true) throw new BlobStoreError("The store is silent.", "ABORT_ERR");
        state.bytesRead += end + 1 - start;
        yield bytes.subarray(start, end + 1);
      } finally {
        state.reading -= 1;
      }
    },
  };
  return { blobs, state, release: () => released.resolve() };
}

function makeFiles(count: number): StoredFile[] {
  const row = { id: 1, blobKey: "held", sizeBytes: content.length };
  return Array.from({ length: count }, () => ({ pushId: 7, row, key }));
}

const noDeadline = () => new AbortController().signal;

test("of ten files four are opened at once, and of each only the first segment is read", async () => {
  const { blobs, state, release } = await openBlockedStore();
  const opening = createFileOpener(blobs, noDeadline)(makeFiles(10), "a");
  await nextTurn();
  expect(state.reading).toBe(4);
  release();
  await opening;
  expect(state.readingMax).toBe(4);
  expect(state.bytesRead).toBeLessThan(10 * 66_000);
});

test("files opened at once are bounded over all clients and per client", async () => {
  const { blobs, state, release } = await openBlockedStore();
  const open = createFileOpener(blobs, noDeadline);
  const flood = Array.from({ length: 16 + 32 }, () => open(makeFiles(10), "a"));
  await expect(open(makeFiles(1), "a")).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
  const other = open(makeFiles(1), "b");
  await nextTurn();
  expect(state.reading).toBe(64);
  release();
  await Promise.all([...flood, other]);
  expect(state.readingMax).toBe(64);
});

test("files that are being opened, or wait for it, are refused at the deadline", async () => {
  const { blobs, state } = await openBlockedStore();
  const deadline = new AbortController();
  const open = createFileOpener(blobs, () => deadline.signal);
  const opened = Array.from({ length: 20 }, () => open(makeFiles(10), "a"));
  await nextTurn();
  deadline.abort();
  for (const outcome of await Promise.allSettled(opened)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "ABORT_ERR" } });
  }
  expect(state.reading).toBe(0);
});

test("a file that fails ends the reads of the others", async () => {
  const { blobs, state } = await openBlockedStore();
  const failing: Pick<BlobStore, "read"> = {
    async *read(blobKey, range, signal) {
      if (blobKey === "away") throw new BlobStoreError("The store refuses.", "AccessDenied");
      yield* blobs.read(blobKey, range, signal);
    },
  };
  const [first, ...others] = makeFiles(4);
  if (first === undefined) throw new Error("There is no file.");
  const files = [...others, { ...first, row: { ...first.row, blobKey: "away" } }];
  const opening = createFileOpener(failing, noDeadline)(files, "a");
  await expect(opening).rejects.toMatchObject({ code: "AccessDenied" });
  await nextTurn();
  expect(state.reading).toBe(0);
});
