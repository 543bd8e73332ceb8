import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BlobMissingError, type BlobStore } from "./blob-store.ts";

const keyShape = /^[0-9a-f]{32}$/;

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/**
 * Blobs as files, spread over 256 folders. A blob is written beside its place, synced, then renamed into it and the
 * folder synced: after a crash it is whole or not there.
 */
export function createFileBlobStore(directory: string): BlobStore {
  function pathOf(key: string): string {
    if (!keyShape.test(key)) throw new Error("A blob key is 32 lower-case hex digits.");
    return join(directory, key.slice(0, 2), key);
  }

  return {
    async write(key, content) {
      const path = pathOf(key);
      const unfinished = `${path}.part`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        const bytes = await writeSynced(unfinished, content);
        await rename(unfinished, path);
        await syncDirectory(dirname(path));
        return bytes;
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },

    async *read(key, range) {
      if (range.end < range.start) return;
      const stream = createReadStream(pathOf(key), { start: range.start, end: range.end, highWaterMark: 256 * 1024 });
      try {
        yield* stream;
      } catch (error) {
        if (hasCode(error, "ENOENT")) throw new BlobMissingError("The blob is not in the store.");
        throw error;
      } finally {
        stream.destroy();
      }
    },

    async delete(key) {
      const path = pathOf(key);
      await rm(`${path}.part`, { force: true });
      await rm(path, { force: true });
    },
  };
}

async function writeSynced(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, "wx", 0o600);
  try {
    let bytes = 0;
    for await (const chunk of content) {
      await file.writev([chunk]);
      bytes += chunk.length;
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
