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

export interface SqliteLocation {
  readonly path: string;
  /** A private folder for the copy is created here, and deleted before the function returns. */
  readonly scratchFolder: string;
  /** Milliseconds since the epoch. Folders of killed processes are deleted after a day. */
  readonly now: number;
}

const dayMs = 86_400_000;
const scratchPrefix = ".sealpush-import-";
const copiesMax = 3;
/**
 * The log has the newest rows, and the journal rolls back an interrupted transaction. SQLite creates the index of the log (`-shm`)
 * again.
 */
const companions = ["-wal", "-journal"] as const;

/**
 * Opens a copy, because opening a database in write-ahead mode writes, and the folder of the original may be read-only. The
 * copy is unlinked at once, so that nothing remains if this process is killed. @throws SourceError.
 */
export function openSqliteCopy({ path, scratchFolder, now }: SqliteLocation): Connection {
  mkdirSync(scratchFolder, { recursive: true, mode: 0o700 });
  removeLeftovers(scratchFolder, now);
  const folder = mkdtempSync(join(scratchFolder, scratchPrefix));
  try {
    const copy = join(folder, "source.sqlite3");
    copyAtRest(path, copy);
    mergeLog(copy, path);
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

/** A dry run copies to the temporary folder that all users share. Folders of other users stay. */
function removeOurs(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!["EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) throw error;
  }
}

/** Copies the database with its log. The copy is repeated if one of them was written meanwhile. */
function copyAtRest(from: string, to: string): void {
  for (let copies = 1; copies <= copiesMax; copies += 1) {
    const before = stateOf(from);
    if (before[0] === "absent")
      throw new SourceError(`${from} is not a file: --database must name the SQLite database.`);
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
    // The copy gets the mode of the original, which may be read-only, or readable by others.
    chmodSync(to, 0o600);
  } catch (error) {
    const code = systemErrorCode(error);
    // The log was removed by a checkpoint. The comparison after the copy detects it.
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

/** Leaves write-ahead mode, so that the copy is one file and can be read after it is unlinked. */
function mergeLog(copy: string, original: string): void {
  try {
    const connection = new SqliteDriver(copy, { fileMustExist: true });
    try {
      connection.pragma("journal_mode = DELETE");
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    throw new SourceError(`${original} cannot be opened as a SQLite database (${error.code}).`, { cause: error });
  }
}
