import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode, systemReason } from "../base/system-error.ts";

/** A backup cannot be created, is not valid or cannot be restored. The message is a sentence for the operator. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Size and checksum of a file that was read or written. */
export interface FileSum {
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

const chunkBytes = 256 * 1024;

/** Creates a file that only its user may read, and syncs it. @throws BackupError if it exists or cannot be written. */
export async function writeSynced(path: string, content: AsyncIterable<Uint8Array>): Promise<FileSum> {
  await using file = await openNew(path);
  const sum = createHash("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    await writeWhole(file, path, chunk);
    sum.update(chunk);
    bytes += chunk.length;
  }
  await syncHandle(file, path);
  return { bytes, sha256: sum.digest("hex") };
}

/** @throws BackupError if it exists or cannot be created. */
export async function openNew(path: string): Promise<FileHandle> {
  return await describeFailure(path, "created", () => open(path, "wx", 0o600));
}

/** On a disk that is nearly full, one call may write less than it was given. @throws BackupError. */
export async function writeWhole(file: FileHandle, path: string, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await describeFailure(path, "written", () => file.write(chunk, written))).bytesWritten;
  }
}

/** @throws BackupError. */
export async function syncHandle(file: FileHandle, path: string): Promise<void> {
  await describeFailure(path, "written", () => file.sync());
}

/** Creates a folder that only its user may read. @throws BackupError, also if the path exists. */
export async function makeFolder(path: string): Promise<void> {
  await describeFailure(path, "created", () => mkdir(path, { mode: 0o700 }));
}

/** Syncs a folder and all folders in it, so that the names in them are durable. */
export async function syncFolders(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(path, entry.name));
  }
  await syncPath(path);
}

/** Syncs a file or a folder. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, "r");
  await syncHandle(handle, path);
}

export function readWhole(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: chunkBytes });
}

export async function sumOf(content: AsyncIterable<Uint8Array>): Promise<FileSum> {
  const sum = createHash("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    sum.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: sum.digest("hex") };
}

export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/**
 * Gives a finished file its name. On file systems without hard links, a taken name is detected just before the rename.
 * @throws BackupError if the name is taken.
 */
export async function linkOrRename(path: string, target: string): Promise<void> {
  try {
    await describeFailure(target, "created", () => link(path, target));
  } catch (error) {
    const code = error instanceof BackupError ? systemErrorCode(error.cause) : undefined;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
    if (existsSync(target)) throw new BackupError(`${target} exists already, and nothing is overwritten.`);
    await describeFailure(target, "created", () => rename(path, target));
  }
}

/** Turns an error of the operating system into a sentence with the path, which errors of writes lack. */
export async function describeFailure<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === "EEXIST")
      throw new BackupError(`${path} exists already, and nothing is overwritten.`, { cause: error });
    throw new BackupError(`${path} cannot be ${what} (${systemReason(error)}).`, { cause: error });
  }
}

/** The same chunks, until `signal` is aborted. @throws the signal's reason. */
export async function* abortable(content: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    signal.throwIfAborted();
    yield chunk;
  }
}
