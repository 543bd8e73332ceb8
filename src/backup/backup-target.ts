import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, link, mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemErrorCode } from "../config/system-error.ts";
import { BackupError } from "./backup-error.ts";
import {
  openNew,
  readWhole,
  saying,
  sumOf,
  syncFile,
  syncFolders,
  syncOf,
  type Written,
  writeSynced,
  writeWhole,
} from "./synced-files.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar-writer.ts";

/** What became of a file: `written`, as it lies in the backup now. `short`: its content ended too early. */
export type Added = { readonly outcome: "whole" | "short"; readonly written: Written | undefined };

/** Where a backup is written to. Nothing has the target's name before `finish`. */
export interface BackupTarget {
  /** The content may be shorter than `bytes`, never longer. @throws BackupError, and what the content throws. */
  add(path: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<Added>;
  /** Takes over the copy of the database that lies in the work folder. */
  addDatabase(path: string, copy: string, bytes: number): Promise<Written>;
  /** Everything is in it: makes it durable. */
  close(): Promise<void>;
  /** Where what was written can be read back, as `openBackup` takes it; undefined: it went into a pipe. */
  readonly written: string | undefined;
  /** Gives it its name. @throws BackupError when something has that name by now. */
  finish(): Promise<void>;
}

/** Into the work folder itself, which then becomes the target. */
export function createFolderTarget(target: string, work: string): BackupTarget {
  return {
    written: work,
    async add(path, bytes, content) {
      const place = join(work, path);
      await saying(dirname(place), "made", () => mkdir(dirname(place), { recursive: true, mode: 0o700 }));
      const written = await writeSynced(place, content);
      if (written.bytes === bytes) return { outcome: "whole", written };
      await rm(place);
      return { outcome: "short", written: undefined };
    },
    async addDatabase(_path, copy) {
      await syncFile(copy);
      return await sumOf(readWhole(copy));
    },
    close: () => syncFolders(work),
    async finish() {
      if (existsSync(target)) throw new BackupError(`${target} is there already; nothing is overwritten.`);
      await saying(target, "made", () => rename(work, target));
      await syncFile(dirname(target));
    },
  };
}

/** Into a file in the work folder, which is then linked to the target's name: that never replaces another. */
export async function createTarTarget(target: string, work: string, modifiedAt: number): Promise<BackupTarget> {
  const path = join(work, "archive.tar");
  const file: FileHandle = await openNew(path);
  return {
    ...archive((chunk) => writeWhole(file, path, chunk), modifiedAt),
    written: path,
    async close() {
      await writeWhole(file, path, tarEnd);
      await syncOf(file, path);
      await file.close();
    },
    async finish() {
      await linkOrRename(path, target);
      await syncFile(dirname(target));
    },
  };
}

/** Into a pipe. @param write resolves when the other side has taken the bytes. */
export function createPipeTarget(write: (bytes: Uint8Array) => Promise<void>, modifiedAt: number): BackupTarget {
  const writeOut = (bytes: Uint8Array) => saying("The standard output", "written", () => write(bytes));
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
  /** The header says the length before the content comes, so what is missing of it is made up by zeros. */
  async function add(path: string, bytes: number, content: AsyncIterable<Uint8Array>): Promise<Added> {
    const sum = createHash("sha256");
    let left = bytes;
    let begun = false;
    const begin = async () => {
      if (!begun) await write(tarHeader(path, bytes, modifiedAt));
      begun = true;
    };
    for await (const chunk of content) {
      await begin();
      await write(chunk);
      sum.update(chunk);
      left -= chunk.length;
    }
    await begin();
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
    /** The copy loses its name before it is read: whatever ends this process, it stays behind nowhere. */
    async addDatabase(path, copy, bytes) {
      const file = await open(copy, "r");
      try {
        await unlink(copy);
        const { written } = await add(path, bytes, file.createReadStream({ autoClose: false }));
        if (written === undefined) throw new Error("An archive always tells what it was given.");
        return written;
      } finally {
        await file.close();
      }
    },
  };
}

const zeros = Buffer.alloc(64 * 1024);

/** Some file systems know no links; there a name that is taken is seen a moment before. */
async function linkOrRename(path: string, target: string): Promise<void> {
  try {
    await saying(target, "made", () => link(path, target));
  } catch (error) {
    const code = error instanceof BackupError ? systemErrorCode(error.cause) : undefined;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
    if (existsSync(target)) throw new BackupError(`${target} is there already; nothing is overwritten.`);
    await saying(target, "made", () => rename(path, target));
  }
}
