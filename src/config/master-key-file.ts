import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Random } from "../base/random.ts";
import { reasonOrThrow, systemErrorCode, systemReason } from "../base/system-error.ts";
import { makeDataFolder, syncFolder } from "./data-folder.ts";

export interface MasterKeyFile {
  /** 32 bytes. */
  readonly key: Buffer;
  /** Whether the file was created by this call. */
  readonly made: boolean;
  readonly warnings: readonly string[];
}

const fileName = "master.key";
const keyBytes = 32;
const fileBytesMax = 1024;

/**
 * Reads `<dataDir>/master.key` (64 hex digits and a line end), or creates it, mode 0600, and its folder if necessary. If
 * several processes start at once, one creates the file and all return its key. A created file is durable.
 * @throws Error with one sentence for the operator, which contains nothing of the file's content.
 */
export function readOrMakeMasterKeyFile(dataDir: string, random: Random): MasterKeyFile {
  const path = join(dataDir, fileName);
  const present = readKey(path);
  if (present !== undefined) return { ...present, made: false };

  const made = makeKey(dataDir, path, random);
  const stored = readKey(path);
  if (stored === undefined) throw new Error(`${path} exists, but cannot be opened: is it a broken link?`);
  return { ...stored, made };
}

/** @returns undefined if there is no such file. */
function readKey(path: string): Omit<MasterKeyFile, "made"> | undefined {
  const { text, mode } = readSmallFile(path) ?? {};
  if (text === undefined || mode === undefined) return undefined;
  if (!/^\s*[0-9a-f]{64}\s*$/i.test(text)) {
    throw new Error(`${path} does not hold a master key (64 hex digits): restore it from your copy.`);
  }
  // Zero where the system knows no group or other permissions.
  const foreignBits = (constants.S_IRWXG ?? 0) | (constants.S_IRWXO ?? 0);
  const open = (mode & foreignBits) !== 0;
  const warnings = open ? [`${path} can be read or changed by other users of this machine: chmod 600 it.`] : [];
  return { key: Buffer.from(text.trim(), "hex"), warnings };
}

function readSmallFile(path: string): { text: string; mode: number } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY);
    const { mode } = fstatSync(descriptor);
    const content = Buffer.alloc(fileBytesMax);
    const count = readSync(descriptor, content, 0, fileBytesMax, 0);
    return { text: content.toString("latin1", 0, count), mode };
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT") return undefined;
    if (code === undefined) throw error;
    throw new Error(`${path} cannot be read (${systemReason(error)}).`, { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * The key is written to a temporary file and linked into place: `master.key` is always complete, even after a crash, and
 * a link never replaces a file that another process created first.
 * @returns whether this process made the file.
 */
function makeKey(dataDir: string, path: string, random: Random): boolean {
  const draft = join(dataDir, `.${fileName}.${random.bytes(8).toString("hex")}`);
  let drafted = false;
  try {
    makeDataFolder(dataDir);
    const descriptor = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    drafted = true;
    try {
      writeFileSync(descriptor, `${random.bytes(keyBytes).toString("hex")}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    const made = linkUnlessTaken(draft, path);
    syncFolder(dataDir);
    return made;
  } catch (error) {
    const reason = reasonOrThrow(error);
    throw new Error(`${path} cannot be created (${reason}): make ${dataDir} writable, or set PWPUSH_MASTER_KEY.`, {
      cause: error,
    });
  } finally {
    if (drafted) unlinkSync(draft);
  }
}

function linkUnlessTaken(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}
