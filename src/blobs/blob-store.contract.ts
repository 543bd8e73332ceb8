import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { BlobMissingError, type BlobStore, BlobStoreError } from "./blob-store.ts";

const makeKey = () => randomBytes(16).toString("hex");

async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const mebibyte = 1024 ** 2;
const wholeFile = { start: 0, end: 1_000_000 };

/** The behaviour of every store. `open` returns a store without any of the keys used here. */
export function describeBlobStore(name: string, open: () => Promise<BlobStore>): void {
  describe(name, () => {
    test("a blob is read back, whole and in inclusive ranges", async () => {
      const store = await open();
      const key = makeKey();
      const content = randomBytes(600_000);
      const written = chunksOf(content.subarray(0, 1), content.subarray(1, 300_000), content.subarray(300_000));
      expect(await store.write(key, written)).toBe(600_000);
      const read = (start: number, end: number) => collect(store.read(key, { start, end }));
      expect((await read(0, 599_999)).equals(content)).toBe(true);
      expect((await read(0, 0)).equals(content.subarray(0, 1))).toBe(true);
      expect((await read(599_999, 599_999)).equals(content.subarray(599_999))).toBe(true);
      expect((await read(12_345, 412_345)).equals(content.subarray(12_345, 412_346))).toBe(true);
      expect(await read(5, 4)).toHaveLength(0);
    });

    test("an empty blob and empty chunks work like others", async () => {
      const store = await open();
      const [empty, sparse] = [makeKey(), makeKey()];
      expect(await store.write(empty, chunksOf())).toBe(0);
      expect(await collect(store.read(empty, wholeFile))).toHaveLength(0);
      expect(await store.write(sparse, chunksOf(Buffer.alloc(0), Buffer.from("a"), Buffer.alloc(0)))).toBe(1);
      expect((await collect(store.read(sparse, wholeFile))).toString()).toBe("a");
    });

    test("a blob of many megabytes is read back unchanged, across all its parts", async () => {
      const store = await open();
      const key = makeKey();
      const content = randomBytes(11 * mebibyte + 7);
      expect(await store.write(key, chunksOf(content.subarray(0, 4 * mebibyte), content.subarray(4 * mebibyte)))).toBe(
        content.length,
      );
      const read = (start: number, end: number) => collect(store.read(key, { start, end }));
      expect((await read(0, content.length)).equals(content)).toBe(true);
      const border = 5 * mebibyte;
      expect((await read(border - 2, border + 1)).equals(content.subarray(border - 2, border + 2))).toBe(true);
    });

    test("a source that fails after many megabytes leaves nothing", async () => {
      const store = await open();
      const key = makeKey();
      async function* content(): AsyncGenerator<Uint8Array> {
        yield randomBytes(11 * mebibyte);
        throw new Error("the sender went away");
      }
      await expect(store.write(key, content())).rejects.toThrow("the sender went away");
      expect(await isMissing(store, key)).toBe(true);
    });

    test("keys are independent of each other", async () => {
      const store = await open();
      const keys = Array.from({ length: 20 }, makeKey);
      await Promise.all(keys.map((key) => store.write(key, chunksOf(Buffer.from(key)))));
      await store.delete(keys[0] ?? "");
      const read = keys.slice(1).map(async (key) => (await collect(store.read(key, wholeFile))).toString());
      expect(await Promise.all(read)).toEqual(keys.slice(1));
    });

    test("nothing can be read before the write has returned", async () => {
      const store = await open();
      const key = makeKey();
      const missing: boolean[] = [];
      async function* content(): AsyncGenerator<Uint8Array> {
        for (let chunk = 0; chunk < 3; chunk += 1) {
          yield randomBytes(100_000);
          missing.push(await isMissing(store, key));
        }
      }
      await store.write(key, content());
      expect(missing).toEqual([true, true, true]);
      expect(await isMissing(store, key)).toBe(false);
    });

    test("a source that fails leaves nothing, and its own error is thrown", async () => {
      const store = await open();
      const key = makeKey();
      const failure = new Error("the sender went away");
      async function* content(): AsyncGenerator<Uint8Array> {
        yield randomBytes(100_000);
        throw failure;
      }
      await expect(store.write(key, content())).rejects.toBe(failure);
      expect(await isMissing(store, key)).toBe(true);
      // The key can still be used afterwards.
      expect(await store.write(key, chunksOf(Buffer.from("again")))).toBe(5);
      expect((await collect(store.read(key, wholeFile))).toString()).toBe("again");
    });

    test("a reader that stops early leaves the blob unchanged", async () => {
      const store = await open();
      const key = makeKey();
      const content = randomBytes(900_000);
      await store.write(key, chunksOf(content));
      for await (const chunk of store.read(key, wholeFile)) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      expect((await collect(store.read(key, wholeFile))).equals(content)).toBe(true);
    });

    test("a read ends with an error when its signal is aborted, before its first byte and between two chunks", async () => {
      const store = await open();
      const key = makeKey();
      await store.write(key, chunksOf(randomBytes(11 * mebibyte)));
      const range = { start: 0, end: 11 * mebibyte - 1 };
      await expect(collect(store.read(key, range, AbortSignal.abort()))).rejects.toBeInstanceOf(BlobStoreError);
      const abort = new AbortController();
      const chunks = store.read(key, range, abort.signal)[Symbol.asyncIterator]();
      expect((await chunks.next()).done).toBe(false);
      abort.abort();
      const readRest = async () => {
        while ((await chunks.next()).done !== true);
      };
      await expect(readRest()).rejects.toBeInstanceOf(BlobStoreError);
    });

    test("deleting succeeds, also twice and for unknown keys", async () => {
      const store = await open();
      const key = makeKey();
      await store.write(key, chunksOf(Buffer.from("a")));
      await store.delete(key);
      expect(await isMissing(store, key)).toBe(true);
      await store.delete(key);
      await store.delete(makeKey());
    });

    test("a missing blob is reported as missing", async () => {
      const store = await open();
      await expect(collect(store.read(makeKey(), wholeFile))).rejects.toBeInstanceOf(BlobMissingError);
    });

    test("a blob that is written in several parts is readable once it is finished, and finishing it again changes nothing", async () => {
      const store = await open();
      const { growing } = store;
      const key = makeKey();
      await append(store, key, { position: 0, length: 8, bytes: Buffer.from("one, ") });
      await append(store, key, { position: 5, length: 8, bytes: Buffer.from("two") });
      expect((await collect(growing.readUnfinished(key, { start: 1, end: 5 }))).toString()).toBe("ne, t");
      await growing.finish(key);
      await growing.finish(key);
      expect((await collect(store.read(key, wholeFile))).toString()).toBe("one, two");
      await store.delete(key);
      await expect(growing.finish(key)).rejects.toBeInstanceOf(BlobMissingError);
      await expect(collect(growing.readUnfinished(key, wholeFile))).rejects.toBeInstanceOf(BlobMissingError);
    });

    test("a blob is continued only at its end", async () => {
      const store = await open();
      const key = makeKey();
      await expect(append(store, key, { position: 3, length: 8, bytes: Buffer.from("x") })).rejects.toBeInstanceOf(
        BlobMissingError,
      );
      await append(store, key, { position: 0, length: 8, bytes: Buffer.from("one") });
      for (const position of [2, 4]) {
        await expect(append(store, key, { position, length: 8, bytes: Buffer.from("x") })).rejects.toBeInstanceOf(
          BlobMissingError,
        );
      }
      expect(await isMissing(store, key)).toBe(true);
    });

    test("megabytes in several parts are read back unchanged, also before they are complete", async () => {
      const store = await open();
      const border = 5 * mebibyte;
      const content = randomBytes(border + 100_000);
      const [finished, stopped] = [makeKey(), makeKey()];
      let position = 0;
      for (const end of [3, border + 7, content.length]) {
        await append(store, finished, { position, length: content.length, bytes: content.subarray(position, end) });
        position = end;
      }
      await store.growing.finish(finished);
      expect((await collect(store.read(finished, { start: 0, end: content.length }))).equals(content)).toBe(true);

      await append(store, stopped, { position: 0, length: content.length, bytes: content.subarray(0, border + 7) });
      const unfinished = store.growing.readUnfinished(stopped, { start: border - 2, end: border + 1 });
      expect((await collect(unfinished)).equals(content.subarray(border - 2, border + 2))).toBe(true);
    });

    test("a key of another shape is refused by every method", async () => {
      const store = await open();
      const key = makeKey();
      const bad = [
        "",
        "a",
        key.toUpperCase().replace(/\d/g, "A"),
        `${key}0`,
        `../${key.slice(3)}`,
        `${key}\n`,
        "g".repeat(32),
      ];
      for (const badKey of bad) {
        await expect(store.write(badKey, chunksOf(Buffer.from("a")))).rejects.toThrow(/blob key/);
        await expect(collect(store.read(badKey, wholeFile))).rejects.toThrow(/blob key/);
        await expect(store.delete(badKey)).rejects.toThrow(/blob key/);
        await expect(store.growing.append(badKey, 0, 1)).rejects.toThrow(/blob key/);
        await expect(store.growing.finish(badKey)).rejects.toThrow(/blob key/);
      }
    });
  });
}

async function append(
  store: BlobStore,
  key: string,
  { position, length, bytes }: { readonly position: number; readonly length: number; readonly bytes: Buffer },
): Promise<void> {
  const writer = await store.growing.append(key, position, length);
  try {
    await writer.write(bytes);
    await writer.sync();
  } finally {
    await writer.close();
  }
}

async function isMissing(store: BlobStore, key: string): Promise<boolean> {
  try {
    await collect(store.read(key, wholeFile));
    return false;
  } catch (error) {
    if (error instanceof BlobMissingError) return true;
    throw error;
  }
}
