import { constants } from "node:fs";
import { access, type FileHandle, mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { secondMs } from "../base/clock.ts";
import { errorCode } from "../base/errors.ts";
import { systemReason } from "../base/system-error.ts";
import { blobPath } from "./blob-key.ts";
import { BlobMissingError, type BlobStore, BlobStoreError, type GrowingBlobs } from "./blob-store.ts";
import { createDiskOperations, type DiskOperations } from "./disk-operations.ts";

const readChunkBytes = 256 * 1024;
const syncEvery = { bytes: 8 * 1024 ** 2, ms: 5 * secondMs };

/** Tells the folder of the blobs from the empty folder below a mount. */
export const markerName = "sealpush-files.txt";
const markerText =
  "Sealpush stores encrypted files in this folder. Do not remove this file: without it, Sealpush assumes that the folder\n" +
  "is not mounted, and neither gives, takes nor deletes files.\n";

export interface FileBlobStoreDeps {
  /**
   * Whether the database names files that must be in the folder. Then a folder without its marker is not mounted:
   * the files only seem to be lost, and the next mount would hide new ones.
   */
  readonly isExpected: () => Promise<boolean>;
  /** A signal that is aborted after `ms`. */
  readonly abortAfter: (ms: number) => AbortSignal;
}

function folderOperations(directory: string, { isExpected, abortAfter }: FileBlobStoreDeps) {
  const pathOf = (key: string) => join(directory, blobPath(key));
  const onDisk = createDiskOperations(abortAfter);

  /** @returns whether the folder has its marker. Without one, it is new. @throws BlobStoreError if it is not mounted. */
  async function checkMounted(signal?: AbortSignal): Promise<boolean> {
    const isMarked = () => onDisk(() => exists(join(directory, markerName)), { signal });
    if (await isMarked()) return true;
    if (!(await isExpected())) return false;
    // Another write may have made the folder since the first look, and the database may name its file already.
    if (await isMarked()) return true;
    throw new BlobStoreError(`The folder for files is not mounted, or lacks its file ${markerName}.`, "NOT_MOUNTED");
  }

  /** The error for a file that cannot be opened. All other errors are returned unchanged. */
  async function openError(error: unknown, signal?: AbortSignal): Promise<unknown> {
    const code = errorCode(error);
    if (code === undefined || error instanceof BlobStoreError) return error;
    if (code !== "ENOENT") {
      return new BlobStoreError(`The disk could not read a file (${systemReason(error)}).`, code, { cause: error });
    }
    await checkMounted(signal);
    return new BlobMissingError("The blob is not in the store.");
  }

  async function* readBlob(
    path: string,
    range: { readonly start: number; readonly end: number },
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    if (range.end < range.start) return;
    try {
      yield* readFile(onDisk, path, range, signal);
    } catch (error) {
      throw await openError(error, signal);
    }
  }

  async function prepareFolder(path: string): Promise<void> {
    if (!(await checkMounted())) await onDisk(() => markBlobFolder(directory));
    await onDisk(() => makeDirectory(dirname(path)));
  }

  return { pathOf, onDisk, checkMounted, openError, readBlob, prepareFolder };
}

type FolderOperations = ReturnType<typeof folderOperations>;

function growingBlobs({ pathOf, onDisk, openError, readBlob, prepareFolder }: FolderOperations): GrowingBlobs {
  return {
    bufferBytes: 0,
    syncEvery,

    async append(key, position) {
      const path = pathOf(key);
      if (position === 0) await prepareFolder(path);
      const file = await openAt(onDisk, unfinishedPath(path), position).catch(async (error) => {
        throw await openError(error);
      });
      return {
        write: (chunk) => writeChunk(onDisk, file, chunk),
        async sync() {
          await onDisk(() => file.sync());
          if (position === 0) await onDisk(() => syncDirectory(dirname(path)));
        },
        close: () => onDisk(() => file.close()),
      };
    },

    async *readUnfinished(key, range) {
      yield* readBlob(unfinishedPath(pathOf(key)), range);
    },

    async finish(key) {
      const path = pathOf(key);
      try {
        await onDisk(() => rename(unfinishedPath(path), path));
      } catch (error) {
        const refusal = await openError(error);
        if (refusal instanceof BlobMissingError && (await onDisk(() => exists(path)))) return;
        throw refusal;
      }
      await onDisk(() => syncDirectory(dirname(path)));
    },
  };
}

/**
 * Blobs as files, spread over 256 folders. A blob is written to a temporary file, synced and renamed, and then its folder is
 * synced: after a crash it is complete or does not exist.
 */
export function createFileBlobStore(directory: string, deps: FileBlobStoreDeps): BlobStore {
  const folder = folderOperations(directory, deps);
  const { pathOf, onDisk, checkMounted, readBlob, prepareFolder } = folder;

  return {
    growing: growingBlobs(folder),

    async write(key, content) {
      const path = pathOf(key);
      const unfinished = unfinishedPath(path);
      await prepareFolder(path);
      const discard = (late: FileHandle) => late.close();
      const file = await onDisk(() => open(unfinished, "wx", 0o600), { discard });
      let writtenPath = unfinished;
      try {
        const bytes = await writeSynced(onDisk, file, content);
        await onDisk(() => rename(unfinished, path));
        writtenPath = path;
        await onDisk(() => syncDirectory(dirname(path)));
        return bytes;
      } catch (error) {
        await onDisk(() => rm(writtenPath, { force: true }));
        throw error;
      }
    },

    async *read(key, range, signal) {
      yield* readBlob(pathOf(key), range, signal);
    },

    async delete(key) {
      const path = pathOf(key);
      const removed = await onDisk(async () => [await removeFile(unfinishedPath(path)), await removeFile(path)]);
      // Without the sync, a crash could restore a blob that no queue would delete again.
      if (removed.includes(true)) await onDisk(() => syncDirectory(dirname(path)));
      else await checkMounted();
    },
  };
}

/** Makes the folder of the blobs and its marker, durably. */
export async function markBlobFolder(directory: string): Promise<void> {
  await makeDirectory(directory);
  await using marker = await open(join(directory, markerName), "a", 0o600);
  // Several processes may write it at the same time.
  await marker.truncate();
  await marker.write(markerText);
  await marker.sync();
  await syncDirectory(directory);
}

function unfinishedPath(path: string): string {
  return `${path}.part`;
}

async function writeChunk(onDisk: DiskOperations, file: FileHandle, chunk: Uint8Array): Promise<void> {
  // One call may write less than requested, for example on a nearly full disk.
  for (let written = 0; written < chunk.length; ) {
    written += (await onDisk(() => file.write(chunk, written))).bytesWritten;
  }
}

/** Opens a file with `position` bytes to append to it; 0: makes it. @throws the system's error; BlobMissingError: another length. */
async function openAt(onDisk: DiskOperations, path: string, position: number): Promise<FileHandle> {
  const discard = (late: FileHandle) => late.close();
  const file = await onDisk(() => open(path, position === 0 ? "wx" : constants.O_WRONLY | constants.O_APPEND, 0o600), {
    discard,
  });
  if ((await onDisk(() => file.stat())).size === position) return file;
  await onDisk(() => file.close());
  throw new BlobMissingError("The unfinished blob does not have the bytes that were acknowledged.");
}

async function writeSynced(
  onDisk: DiskOperations,
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  try {
    let bytes = 0;
    for await (const chunk of content) {
      await writeChunk(onDisk, file, chunk);
      bytes += chunk.length;
    }
    await onDisk(() => file.sync());
    return bytes;
  } finally {
    await onDisk(() => file.close());
  }
}

/** The bytes of the range, as far as the file has them. @throws the system's error; BlobStoreError if the disk hangs. */
async function* readFile(
  onDisk: DiskOperations,
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const file = await onDisk(() => open(path, "r"), { signal, discard: (late) => late.close() });
  try {
    for (let at = start; at <= end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(readChunkBytes, end + 1 - at));
      const { bytesRead } = await onDisk(() => file.read(buffer, 0, buffer.length, at), { signal });
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    // This is not awaited, because a read may still hang. Nothing was written, so a failure to close changes nothing.
    void file.close().catch(() => undefined);
  }
}

/** A new folder is durable once its parent folder is synced. */
async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw new BlobStoreError(`The disk could not read a folder (${systemReason(error)}).`, errorCode(error) ?? "", {
      cause: error,
    });
  }
}

/** @returns false when the file did not exist. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}
