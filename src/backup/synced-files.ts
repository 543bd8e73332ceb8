import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "../config/system-error.ts";
import { BackupError } from "./backup-error.ts";

export interface Written {
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

const chunkBytes = 256 * 1024;

/** Makes the file, its user's alone, and syncs it. @throws BackupError when it is there or cannot be written. */
export async function writeSynced(path: string, content: AsyncIterable<Uint8Array>): Promise<Written> {
  const file = await openNew(path);
  const sum = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of content) {
      await writeWhole(file, path, chunk);
      sum.update(chunk);
      bytes += chunk.length;
    }
    await syncOf(file, path);
  } finally {
    await file.close();
  }
  return { bytes, sha256: sum.digest("hex") };
}

/** @throws BackupError when it is there already or cannot be made. */
export async function openNew(path: string): Promise<FileHandle> {
  return await saying(path, "made", () => open(path, "wx", 0o600));
}

/** One call may write less than it was given, on a disk that is nearly full. @throws BackupError. */
export async function writeWhole(file: FileHandle, path: string, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await saying(path, "written", () => file.write(chunk, written))).bytesWritten;
  }
}

/** @throws BackupError. */
export async function syncOf(file: FileHandle, path: string): Promise<void> {
  await saying(path, "written", () => file.sync());
}

/** Makes one folder, its user's alone. @throws BackupError, also when something is there. */
export async function makeFolder(path: string): Promise<void> {
  await saying(path, "made", () => mkdir(path, { mode: 0o700 }));
}

/** Syncs the folder and all below it: only then do the names in them stand. */
export async function syncFolders(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(path, entry.name));
  }
  await syncFile(path);
}

/** Of a file or a folder. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await syncOf(handle, path);
  } finally {
    await handle.close();
  }
}

export function readWhole(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: chunkBytes });
}

export async function sumOf(content: AsyncIterable<Uint8Array>): Promise<Written> {
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

/** The system's refusal as a sentence that names the place: of a write it names none. */
export async function saying<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === "EEXIST") throw new BackupError(`${path} is there already; nothing is overwritten.`, { cause: error });
    throw new BackupError(`${path} cannot be ${what} (${code}).`, { cause: error });
  }
}
