import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { blobPath } from "./blob-key.ts";
import { BlobMissingError, type BlobStore, BlobStoreError } from "./blob-store.ts";

const readChunkBytes = 256 * 1024;

/** The code of a system error, such as ENOENT, or of an aborted read; undefined: the error is a bug. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/**
 * Blobs as files, spread over 256 folders. A blob is written to a temporary file, synced and renamed, and then its folder is
 * synced: after a crash it is complete or does not exist.
 */
export function createFileBlobStore(directory: string): BlobStore {
  const pathOf = (key: string) => join(directory, blobPath(key));

  return {
    async write(key, content) {
      const path = pathOf(key);
      const unfinished = unfinishedPath(path);
      await makeDirectory(dirname(path));
      const file = await open(unfinished, "wx", 0o600);
      let writtenPath = unfinished;
      try {
        const bytes = await writeSynced(file, content);
        await rename(unfinished, path);
        writtenPath = path;
        await syncDirectory(dirname(path));
        return bytes;
      } catch (error) {
        await rm(writtenPath, { force: true });
        throw error;
      }
    },

    async *read(key, range, signal) {
      const path = pathOf(key);
      if (range.end < range.start) return;
      const { start, end } = range;
      const stream = createReadStream(path, { start, end, highWaterMark: readChunkBytes, signal });
      try {
        yield* stream;
      } catch (error) {
        const code = codeOf(error);
        if (code === "ENOENT") throw new BlobMissingError("The blob is not in the store.");
        if (code === undefined) throw error;
        throw new BlobStoreError(`The disk could not read a file (${code}).`, code, { cause: error });
      } finally {
        stream.destroy();
      }
    },

    async delete(key) {
      const path = pathOf(key);
      const unfinishedWasThere = await removeFile(unfinishedPath(path));
      const wasThere = await removeFile(path);
      // Without the sync, a crash could restore a blob that no queue would delete again.
      if (wasThere || unfinishedWasThere) await syncDirectory(dirname(path));
    },
  };
}

function unfinishedPath(path: string): string {
  return `${path}.part`;
}

async function writeSynced(file: FileHandle, content: AsyncIterable<Uint8Array>): Promise<number> {
  try {
    let bytes = 0;
    for await (const chunk of content) {
      // One call may write less than requested, for example on a nearly full disk.
      for (let written = 0; written < chunk.length; ) {
        written += (await file.write(chunk, written)).bytesWritten;
      }
      bytes += chunk.length;
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** A new folder is durable once its parent folder is synced. */
async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** @returns false when the file did not exist. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
