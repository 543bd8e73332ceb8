import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { reasonOrThrow, systemErrorCode } from "../base/system-error.ts";

/**
 * Makes the data folder, accessible to its user alone, and its missing parents; an existing folder is left unchanged.
 * @throws Error with one sentence for the operator.
 */
export function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (error) {
    const reason = reasonOrThrow(error);
    throw new Error(`The data folder ${dataDir} cannot be created (${reason}): check DATA_DIR.`, { cause: error });
  }
  if (!statSync(dataDir).isDirectory()) throw new Error(`${dataDir} is not a folder: check DATA_DIR.`);
}

/** Level by level: Node's recursive form never returns if a folder rejects new ones with ENOENT, as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time may have made it first.
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}

/**
 * The folder in which a restore prepares its work. While it exists, a restore is running or was interrupted, and what is
 * next to it may be incomplete.
 */
export function unfinishedRestorePath(dataDir: string): string {
  return join(dataDir, "restore-unfinished");
}

/** @throws Error with a sentence for the operator. */
export function refuseUnfinishedRestore(dataDir: string): void {
  const path = unfinishedRestorePath(dataDir);
  if (!existsSync(path)) return;
  throw new Error(
    `A restore into ${dataDir} is running or was interrupted: if none is running, remove ${path}, the database and the ` +
      "folder blobs next to it, and restore again.",
  );
}

/** Without it, the name of a new file could be lost in a crash of the machine. Some systems cannot open a folder. */
export function syncFolder(path: string): void {
  if (constants.O_DIRECTORY === undefined) return;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const movedInName = "moved-in";

/** @returns the database that the data of another server were imported into; undefined: they were not imported here. */
export function findMovedIn(dataDir: string): string | undefined {
  const path = movedInPath(dataDir);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

export function movedInPath(dataDir: string): string {
  return join(dataDir, movedInName);
}

/** Remembers, durably, a complete import even if the database is lost or replaced. @throws Error with a sentence for the operator. */
export function recordMovedIn(dataDir: string, database: string): void {
  const path = movedInPath(dataDir);
  if (existsSync(path)) return;
  makeDataFolder(dataDir);
  try {
    writeFileSync(path, `${database}\n`, { mode: 0o600, flush: true });
    syncFolder(dataDir);
  } catch (error) {
    throw new Error(`${path} cannot be written (${reasonOrThrow(error)}): make ${dataDir} writable.`, { cause: error });
  }
}
