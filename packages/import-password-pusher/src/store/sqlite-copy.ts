import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import SqliteDriver, { type Database as Connection, SqliteError } from "better-sqlite3";
import { SourceError } from "../../../../src/import/source.ts";
import { systemErrorCode } from "../system-error.ts";

export interface SqlitePlace {
  readonly path: string;
  /** Gets a folder for the copy, which nobody else can look into and which is gone when this returns. */
  readonly scratchFolder: string;
  /** Milliseconds: what was left behind a day ago by a process that was killed while it copied is removed. */
  readonly now: number;
}

const dayMs = 86_400_000;
const scratchPrefix = ".sealpush-import-";
const copiesMax = 3;
/**
 * The log holds the newest rows; the journal undoes a transaction that was cut short. The index of the log (`-shm`) is
 * made anew by whoever opens the copy.
 */
const companions = ["-wal", "-journal"] as const;

/**
 * Opens a copy: the original may lie in a folder where nothing can be written, and opening a database in write-ahead mode
 * writes. The copy's log is folded in and its name removed at once, so that nothing is left behind however this process
 * ends. @throws SourceError.
 */
export function openSqliteCopy({ path, scratchFolder, now }: SqlitePlace): Connection {
  mkdirSync(scratchFolder, { recursive: true, mode: 0o700 });
  removeLeftovers(scratchFolder, now);
  const folder = mkdtempSync(join(scratchFolder, scratchPrefix));
  try {
    const copy = join(folder, "source.sqlite3");
    copyAtRest(path, copy);
    fold(copy, path);
    return new SqliteDriver(copy, { readonly: true, fileMustExist: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function removeLeftovers(scratchFolder: string, now: number): void {
  for (const name of readdirSync(scratchFolder).filter((entry) => entry.startsWith(scratchPrefix))) {
    const path = join(scratchFolder, name);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (changedAt < now - dayMs) removeOurs(path);
  }
}

/** A dry run copies into a folder that all users of the machine share: what one of them left there stays. */
function removeOurs(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) throw error;
  }
}

/** Database and log belong together: a copy during which either was written is made again. */
function copyAtRest(from: string, to: string): void {
  for (let copies = 1; copies <= copiesMax; copies += 1) {
    const before = stateOf(from);
    if (before[0] === "absent") throw new SourceError(`${from} is no file: --database must name the SQLite database.`);
    for (const companion of companions) rmSync(to + companion, { force: true });
    copyPart(from, to);
    for (const companion of companions) {
      if (stateOfFile(from + companion) !== "absent") copyPart(from + companion, to + companion);
    }
    if (stateOf(from).join() === before.join()) return;
  }
  throw new SourceError(`${from} is being written to while it is copied: stop Password Pusher first.`);
}

function copyPart(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    // A copy has the mode of the original, which may allow no writing, or reading by others.
    chmodSync(to, 0o600);
  } catch (error) {
    const code = systemErrorCode(error);
    // A log that was folded in just now: the comparison afterwards tells.
    if (code === "ENOENT") return;
    if (code === undefined) throw error;
    throw new SourceError(`${from} cannot be copied to ${to} (${code}).`, { cause: error });
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

/** Out of write-ahead mode, so that the copy is one file and can be read after its name is gone. */
function fold(copy: string, named: string): void {
  try {
    const connection = new SqliteDriver(copy, { fileMustExist: true });
    try {
      connection.pragma("journal_mode = DELETE");
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    throw new SourceError(`${named} cannot be opened as a SQLite database (${error.code}).`, { cause: error });
  }
}
