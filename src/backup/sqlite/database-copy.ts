import { closeSync, openSync } from "node:fs";
import SqliteDriver, { type Database as Connection } from "better-sqlite3";
import { indexKeyName } from "../../pushes/vault.ts";
import { BackupError } from "../backup-error.ts";
import type { BackupCounts } from "../manifest.ts";

/** What is to be known of a database whose schema may be older than this program's. */
export interface DatabaseFacts {
  readonly schemaVersion: number;
  /** Master keys that may seal rows of it. */
  readonly keyIds: readonly string[];
  readonly counts: BackupCounts;
}

export interface NamedBlob {
  readonly fileId: number;
  readonly pushId: number;
  readonly blobKey: string;
  /** Of the file before it was sealed. */
  readonly sizeBytes: number;
}

const lockWaitMs = 15_000;
const problemsMax = 5;
/** More than a database can have. */
const pagesMax = 2 ** 31 - 1;

/**
 * Copies the database while servers write to it, as it stands at one moment, into a new file that only its user may
 * read. Page by page and in a single step: one read transaction sees it all, so nothing that others write starts the
 * copy anew, and every page is laid out as in the original. VACUUM INTO would move rows, and a moved row leaves a copy of
 * its bytes between others: a data key that ends after a restore would stay in the file (see the table's schema).
 * @throws BackupError when the copy cannot be written.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  closeSync(openSync(to, "wx", 0o600));
  try {
    await copyPages(from, to);
    standAlone(to);
  } catch (error) {
    if (!(error instanceof SqliteDriver.SqliteError)) throw error;
    throw new BackupError(`The database ${from} could not be copied to ${to} (${error.code}).`, { cause: error });
  }
}

async function copyPages(from: string, to: string): Promise<void> {
  const connection = new SqliteDriver(from, { fileMustExist: true, timeout: lockWaitMs });
  try {
    await connection.backup(to, { progress: () => pagesMax });
  } finally {
    connection.close();
  }
}

/** Without a write-ahead log, whose files would come and go beside a database that is only read. */
function standAlone(path: string): void {
  const connection = new SqliteDriver(path, { fileMustExist: true });
  try {
    connection.pragma("journal_mode = DELETE");
  } finally {
    connection.close();
  }
}

/** A database as a file that nobody writes to: a copy, or what came out of a backup. */
export class DatabaseCopy implements Disposable {
  readonly #connection: Connection;

  /** @throws BackupError when it is no database. */
  constructor(path: string) {
    this.#connection = new SqliteDriver(path, { readonly: true, fileMustExist: true });
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }

  /** @throws BackupError when SQLite finds anything wrong with a page, a row or an index. Reads the whole file. */
  assertSound(): void {
    const problems = this.#asking(() => this.#connection.pragma(`integrity_check(${problemsMax})`, { simple: true }));
    if (problems !== "ok") throw damaged("SQLite finds it unsound");
  }

  facts(): DatabaseFacts {
    return this.#asking(() => {
      const counts = this.#connection.prepare<[], BackupCounts>(countsText).get();
      if (counts === undefined) throw new Error("Nothing was counted.");
      const keys = this.#connection.prepare<[], { keyId: string }>(keysText).all();
      return {
        schemaVersion: Number(this.#connection.pragma("user_version", { simple: true })),
        keyIds: keys.map(({ keyId }) => keyId),
        counts,
      };
    });
  }

  /** undefined: it has none, so nothing was ever kept in it. */
  indexKeySealed(): Buffer | undefined {
    const text = "SELECT value FROM meta WHERE name = ?";
    return this.#asking(() => this.#connection.prepare<[string], { value: Buffer }>(text).get(indexKeyName)?.value);
  }

  /** Of live pushes, in the order of the files' ids. @param afterId 0: from the first. */
  blobsAfter(afterId: number, limit: number): readonly NamedBlob[] {
    return this.#asking(() => this.#connection.prepare<[number, number], NamedBlob>(blobsText).all(afterId, limit));
  }

  #asking<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof SqliteDriver.SqliteError)) throw error;
      throw damaged(error.code);
    }
  }
}

/** All blobs of live pushes, a batch at a time. */
export function* allBlobs(copy: DatabaseCopy): Generator<NamedBlob> {
  const batchRows = 500;
  for (let afterId = 0; ; ) {
    const batch = copy.blobsAfter(afterId, batchRows);
    yield* batch;
    const last = batch.at(-1);
    if (last === undefined) return;
    afterId = last.fileId;
  }
}

/** Whether a push that lives still has this file, in a database that servers write to. */
export function isStillNamed(databasePath: string, blobKey: string): boolean {
  const connection = new SqliteDriver(databasePath, { fileMustExist: true, timeout: lockWaitMs });
  try {
    return connection.prepare<[string]>(namedText).get(blobKey) !== undefined;
  } finally {
    connection.close();
  }
}

const liveFiles = "FROM files JOIN pushes ON pushes.id = files.push_id WHERE pushes.ended_at IS NULL";
const countsText = `SELECT (SELECT count(*) FROM pushes) AS pushes,
  (SELECT count(*) FROM pushes WHERE ended_at IS NULL) AS livePushes,
  (SELECT count(*) ${liveFiles}) AS files,
  (SELECT count(*) FROM users) AS users`;
const keysText = "SELECT substr(name, 12) AS keyId FROM meta WHERE name GLOB 'key_in_use:*' ORDER BY name";
const blobsText = `SELECT files.id AS fileId, push_id AS pushId, blob_key AS blobKey, size_bytes AS sizeBytes ${liveFiles}
  AND files.id > ? ORDER BY files.id LIMIT ?`;
const namedText = `SELECT 1 ${liveFiles} AND blob_key = ?`;

function damaged(reason: string): BackupError {
  return new BackupError(`The database of the backup is damaged (${reason}).`);
}
