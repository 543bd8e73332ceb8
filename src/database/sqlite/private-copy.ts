import {
  chmodSync,
  constants,
  copyFileSync,
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../base/clock.ts";
import { systemErrorCode, systemReason } from "../../base/system-error.ts";
import { copyPages, leaveWriteAheadMode } from "./copy-pages.ts";
import { type Connection, SqliteDriver, SqliteError } from "./driver.ts";

/** A database of another program. */
export interface ForeignDatabase {
  readonly path: string;
  /** A private folder for the copy is created here, and deleted before the function returns. */
  readonly scratchFolder: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const scratchPrefix = ".sealpush-import-";
const copiesMax = 3;
/**
 * The log has the newest rows, and the journal rolls back an interrupted transaction. SQLite creates the index of the log (`-shm`)
 * again.
 */
const companions = ["-wal", "-journal"] as const;

/**
 * Opens a copy, because opening a database in write-ahead mode writes, and the folder of the original may be read-only. Only if the
 * original is written to during the copy, it is opened. The copy is unlinked at once. If this process is killed before, the
 * next run deletes it. @throws Error with a sentence for the operator.
 */
export async function openPrivateCopy({ path, scratchFolder, now }: ForeignDatabase): Promise<Connection> {
  mkdirSync(scratchFolder, { recursive: true, mode: 0o700 });
  removeLeftovers(scratchFolder, now);
  const { folder, lock } = makeLockedFolder(scratchFolder);
  try {
    const copy = join(folder, "source.sqlite3");
    if (!copyAtRest(path, copy)) await copyInUse(path, copy);
    mergeLog(copy, path);
    return new SqliteDriver(copy, { readonly: true, fileMustExist: true });
  } finally {
    removeFolder(folder);
    lock.close();
  }
}

/** Another run may take the folder for abandoned before it is locked, and remove it. Then another one is made. */
function makeLockedFolder(scratchFolder: string) {
  for (;;) {
    const folder = mkdtempSync(join(scratchFolder, scratchPrefix));
    const lock = new SqliteDriver(lockIn(folder));
    try {
      lockExclusively(lock);
      if (existsSync(lockIn(folder))) return { folder, lock };
    } catch (error) {
      if (existsSync(lockIn(folder))) throw error;
    }
    lock.close();
  }
}

/** A process locks this file while it uses or removes the folder. The system releases the lock when the process is killed. */
function lockIn(folder: string): string {
  return join(folder, "lock.sqlite3");
}

function lockExclusively(lock: Connection): void {
  lock.exec("BEGIN EXCLUSIVE");
}

/** The temporary folder of a dry run is shared by all users. Folders of other users stay, and links are not followed. */
function removeLeftovers(scratchFolder: string, now: number): void {
  const isOurs = (entry: Dirent) => entry.isDirectory() && entry.name.startsWith(scratchPrefix);
  for (const { name } of readdirSync(scratchFolder, { withFileTypes: true }).filter(isOurs)) {
    const path = join(scratchFolder, name);
    try {
      removeIfAbandoned(path, now);
    } catch (error) {
      if (!["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) throw error;
    }
  }
}

function removeIfAbandoned(folder: string, now: number): void {
  const found = lstatSync(lockIn(folder), { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true) return;
  if (found === undefined) {
    // Another process may be about to lock it.
    const madeAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (madeAt < now - dayMs) removeFolder(folder);
    return;
  }
  let lock: Connection | undefined;
  try {
    lock = new SqliteDriver(lockIn(folder), { fileMustExist: true, timeout: 0 });
    lockExclusively(lock);
    removeFolder(folder);
  } catch (error) {
    // It is locked, belongs to another user, or was removed meanwhile.
    if (!(error instanceof SqliteError) && existsSync(folder)) throw error;
  } finally {
    lock?.close();
  }
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Copies the database with its log. The copy is repeated if one of them was written meanwhile.
 * @returns false if that happened every time.
 */
function copyAtRest(from: string, to: string): boolean {
  for (let copies = 1; copies <= copiesMax; copies += 1) {
    const before = stateOf(from);
    if (before[0] === "absent") throw new Error(`${from} is not a file: --database must name the SQLite database.`);
    for (const companion of companions) rmSync(to + companion, { force: true });
    copyPart(from, to);
    for (const companion of companions) {
      if (stateOfFile(from + companion) !== "absent") copyPart(from + companion, to + companion);
    }
    if (stateOf(from).join() === before.join()) return true;
  }
  return false;
}

/** The copy is the state at one moment. */
async function copyInUse(from: string, to: string): Promise<void> {
  for (const part of [to, ...companions.map((companion) => to + companion)]) rmSync(part, { force: true });
  try {
    await copyPages(from, to, { readonly: true });
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    throw new Error(
      `${from} is being written to and cannot be copied meanwhile (${error.code}): stop Password Pusher first.`,
      { cause: error },
    );
  }
}

function copyPart(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    // The copy gets the mode of the original, which may be read-only, or readable by others.
    chmodSync(to, 0o600);
  } catch (error) {
    const code = systemErrorCode(error);
    // The log was removed by a checkpoint. The comparison after the copy detects it.
    if (code === "ENOENT") return;
    if (code === undefined) throw error;
    throw new Error(`${from} cannot be copied to ${to} (${systemReason(error)}).`, { cause: error });
  }
}

function stateOf(path: string): readonly string[] {
  return [path, ...companions.map((companion) => path + companion)].map(stateOfFile);
}

function stateOfFile(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) return "absent";
  return `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

/** Leaves write-ahead mode, so that the copy is one file and can be read after it is unlinked. */
function mergeLog(copy: string, original: string): void {
  try {
    leaveWriteAheadMode(copy);
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    throw new Error(`${original} cannot be opened as a SQLite database (${error.code}).`, { cause: error });
  }
}
