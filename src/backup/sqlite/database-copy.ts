import { copyPages, leaveWriteAheadMode } from "../../database/sqlite/copy-pages.ts";
import { type Connection, SqliteDriver, SqliteError } from "../../database/sqlite/driver.ts";
import { BackupError } from "../durable-files.ts";
import type { BackupCounts } from "../manifest.ts";

export interface LiveBlob {
  readonly fileId: number;
  readonly pushId: number;
  readonly blobKey: string;
  /** Size of the file before it was sealed. */
  readonly sizeBytes: number;
}

const lockWaitMs = 15_000;
const problemsMax = 5;

/**
 * Copies the state of the database at one moment, while servers write to it. Pages keep their layout. VACUUM INTO would move
 * rows, and a moved row leaves a copy of its bytes in the page: a row secret that is destroyed after a restore would stay in
 * the file (see the schema of the table).
 * @throws BackupError if the copy cannot be written.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    await copyPages(from, to);
    leaveWriteAheadMode(to);
  } catch (error) {
    if (!(error instanceof SqliteError)) throw error;
    throw new BackupError(`The database ${from} could not be copied to ${to} (${error.code}).`, { cause: error });
  }
}

/** A database file without writers: a copy, or the database of a backup. */
export class DatabaseCopy implements Disposable {
  readonly #connection: Connection;

  /** @throws BackupError if it is not a database. */
  constructor(path: string) {
    this.#connection = new SqliteDriver(path, { readonly: true, fileMustExist: true });
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }

  /** Reads the whole file. @throws BackupError if SQLite finds an error in a page, a row or an index. */
  assertSound(): void {
    const problems = this.#query(() => this.#connection.pragma(`integrity_check(${problemsMax})`, { simple: true }));
    if (problems !== "ok") throw damaged("SQLite's integrity check failed");
  }

  /** The schema may be older than this program's. `keyIds`: the master keys that the rows may be sealed under. */
  facts() {
    return this.#query(() => {
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

  /** The marks that the database has. */
  marksAmong(names: readonly string[]): readonly string[] {
    const text = "SELECT name FROM meta WHERE name = ?";
    return this.#query(() => names.filter((name) => this.#connection.prepare(text).get(name) !== undefined));
  }

  /** undefined: no server has used the database yet. */
  indexSecretSealed(): Buffer | undefined {
    const text = "SELECT value FROM meta WHERE name = 'index_secret'";
    return this.#query(() => this.#connection.prepare<[], { value: Buffer }>(text).get()?.value);
  }

  /** Files of active pushes, in the order of their ids. @param afterId 0: from the first. */
  blobsAfter(afterId: number, limit: number): readonly LiveBlob[] {
    return this.#query(() => this.#connection.prepare<[number, number], LiveBlob>(blobsText).all(afterId, limit));
  }

  #query<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof SqliteError)) throw error;
      throw damaged(error.code);
    }
  }
}

/** All blobs of live pushes, a batch at a time. */
export function* allBlobs(copy: DatabaseCopy): Generator<LiveBlob> {
  const batchRows = 500;
  for (let afterId = 0; ; ) {
    const batch = copy.blobsAfter(afterId, batchRows);
    yield* batch;
    const last = batch.at(-1);
    if (last === undefined) return;
    afterId = last.fileId;
  }
}

/** Whether a live push still has this file, in a database that servers write to. */
export function isStillUsed(databasePath: string, blobKey: string): boolean {
  const connection = new SqliteDriver(databasePath, { fileMustExist: true, timeout: lockWaitMs });
  try {
    return connection.prepare<[string]>(usedText).get(blobKey) !== undefined;
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
const usedText = `SELECT 1 ${liveFiles} AND blob_key = ?`;

function damaged(reason: string): BackupError {
  return new BackupError(`The database of the backup is damaged (${reason}).`);
}
