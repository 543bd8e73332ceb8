import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  BackupError,
  describeFailure,
  type FileSum,
  linkOrRename,
  openNew,
  readWhole,
  sumOf,
  syncFolders,
  syncHandle,
  syncPath,
  writeSynced,
  writeWhole,
} from "./durable-files.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

/** `short`: the content ended too early. `written`: the file in the backup; undefined: none was written. */
export type Added = { readonly outcome: "whole" | "short"; readonly written: FileSum | undefined };

/** The destination of a backup. The backup gets its name in `finish`. */
export interface BackupTarget {
  /** The content may be shorter than `bytes`, never longer. @throws BackupError, and errors of the content. */
  add(path: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<Added>;
  /** Adds the copy of the database in the work folder, and takes it over. */
  addDatabase(path: string, copy: string, bytes: number): Promise<FileSum>;
  /** Makes everything that was added durable. */
  close(): Promise<void>;
  /** The path for `openBackup` to read the backup back; undefined: it was written to a pipe. */
  readonly written: string | undefined;
  /** Gives the backup its name. @throws BackupError if the name is taken by now. */
  finish(): Promise<void>;
}

/** Writes into the work folder, which `finish` renames to the target. */
export function createFolderTarget(target: string, work: string): BackupTarget {
  return {
    written: work,
    async add(path, bytes, content) {
      const file = join(work, path);
      await describeFailure(dirname(file), "created", () => mkdir(dirname(file), { recursive: true, mode: 0o700 }));
      const written = await writeSynced(file, content);
      if (written.bytes === bytes) return { outcome: "whole", written };
      await rm(file);
      return { outcome: "short", written: undefined };
    },
    async addDatabase(_path, copy) {
      await syncPath(copy);
      return await sumOf(readWhole(copy));
    },
    close: () => syncFolders(work),
    async finish() {
      if (existsSync(target)) throw new BackupError(`${target} exists already, and nothing is overwritten.`);
      await describeFailure(target, "created", () => rename(work, target));
      await syncPath(dirname(target));
    },
  };
}

/** Writes an archive into the work folder. `finish` links it to the target's name, which never replaces another file. */
export async function createTarTarget(target: string, work: string, modifiedAt: number): Promise<BackupTarget> {
  const path = join(work, "archive.tar");
  const file: FileHandle = await openNew(path);
  return {
    ...archive((chunk) => writeWhole(file, path, chunk), modifiedAt),
    written: path,
    async close() {
      await writeWhole(file, path, tarEnd);
      await syncHandle(file, path);
      await file.close();
    },
    async finish() {
      await linkOrRename(path, target);
      await syncPath(dirname(target));
    },
  };
}

/** Writes an archive to a pipe. @param write resolves when the other side has taken the bytes. */
export function createPipeTarget(write: (bytes: Uint8Array) => Promise<void>, modifiedAt: number): BackupTarget {
  const writeOut = (bytes: Uint8Array) => describeFailure("The standard output", "written", () => write(bytes));
  return {
    ...archive(writeOut, modifiedAt),
    written: undefined,
    close: () => writeOut(tarEnd),
    finish: async () => undefined,
  };
}

function archive(
  write: (bytes: Uint8Array) => Promise<void>,
  modifiedAt: number,
): Pick<BackupTarget, "add" | "addDatabase"> {
  /** The header with the size precedes the content, so content that is too short is filled up with zeros. */
  async function add(path: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<Added> {
    const sum = createHash("sha256");
    let left = bytes;
    let hasHeader = false;
    const writeHeader = async () => {
      if (!hasHeader) await write(tarHeader(path, bytes, modifiedAt));
      hasHeader = true;
    };
    for await (const chunk of content) {
      await writeHeader();
      await write(chunk);
      sum.update(chunk);
      left -= chunk.length;
    }
    await writeHeader();
    const outcome = left === 0 ? "whole" : "short";
    for (; left > 0; left -= zeros.length) {
      const chunk = zeros.subarray(0, left);
      await write(chunk);
      sum.update(chunk);
    }
    await write(tarPadding(bytes));
    return { outcome, written: { bytes, sha256: sum.digest("hex") } };
  }

  return {
    add,
    /** Unlinks the copy before it is read, so that nothing remains if this process is killed. */
    async addDatabase(path, copy, bytes) {
      await using file = await open(copy, "r");
      await unlink(copy);
      const { written } = await add(path, bytes, file.createReadStream({ autoClose: false }));
      if (written === undefined) throw new Error("An archive returns the checksum of every file.");
      return written;
    },
  };
}

const zeros = Buffer.alloc(64 * 1024);
