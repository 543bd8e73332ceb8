import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Database, ReadConnection, WriteConnection } from "../../src/database/database.ts";
import { openSqlite, type SqliteDatabase } from "../../src/database/sqlite/sqlite.ts";
import { type DriverRow, type StatementText, sql, type Value } from "../../src/database/statement.ts";
import { engine, settingsOfEngine } from "./engine.ts";
import { makeFolder } from "./folders.ts";
import { postgresSettings } from "./postgres/settings.ts";

/**
 * Opens a database on the engine of this test run. It is closed when the test finishes.
 * @param folder opening the same folder several times opens the same database, as several processes do.
 * @param onClosing called before it is closed: writes that nothing waits for may fail from then on.
 */
export function openEngineDatabase(folder: string = makeFolder(), onClosing: () => void = () => undefined): Database {
  let isOver = false;
  const failed = (code: string) => {
    // Dropping the database cuts connections that are still closing.
    if (!isOver) throw new Error(`Storage failed: ${code}`);
  };
  const closeAtTheEnd = () =>
    onTestFinished(async () => {
      isOver = true;
      onClosing();
      await db.close();
    });
  const db =
    engine === "sqlite" ? openSqliteIn(folder, failed) : deferred(openPostgresOf(folder, failed, closeAtTheEnd));
  if (engine === "sqlite") closeAtTheEnd();
  return db;
}

const monotonicMs = () => performance.now();

function openSqliteIn(folder: string, onStorageFailure: (code: string) => void): Database {
  const path = join(folder, "test.sqlite3");
  return openSqlite({
    path,
    monotonicMs,
    onStorageFailure,
    onTruncationFailed: (error) => onStorageFailure(String(error)),
  });
}

/** @param onMade called when the database exists; cleanups it registers run before the database is dropped. */
async function openPostgresOf(
  folder: string,
  onStorageFailure: (code: string) => void,
  onMade: () => void,
): Promise<Database> {
  const { DATABASE_URL: address = "" } = await settingsOfEngine(folder);
  onMade();
  // Imported here: tests on SQLite do not need the driver.
  const { openPostgres } = await import("../../src/database/postgres/postgres.ts");
  return await openPostgres({
    // Some tests run a thousand operations at once, on busy machines.
    settings: postgresSettings(address, { poolMax: 5, connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 }),
    monotonicMs,
    onStorageFailure,
  });
}

/** Returns a database that is still being opened: each method waits for it. */
function deferred(databaseOpening: Promise<Database>): Database {
  let closing: Promise<void> | undefined;
  let opened: Database | undefined;
  const opening = databaseOpening.then((db) => {
    opened = db;
    return db;
  });
  const counts = { commits: 0, transactions: 0, conflicts: 0, waiting: 0 };
  const reading = (of: (db: Database) => ReadConnection): ReadConnection => ({
    one: async (statement, ...parameters) => of(await opening).one(statement, ...parameters),
    all: async (statement, ...parameters) => of(await opening).all(statement, ...parameters),
  });
  const writing = (of: (db: Database) => WriteConnection): WriteConnection => ({
    ...reading(of),
    run: async (statement, ...parameters) => of(await opening).run(statement, ...parameters),
  });
  return {
    engine: "postgres",
    read: reading((db) => db.read),
    lookUp: { one: async (...statement) => (await opening).lookUp.one(...statement) },
    autocommit: (options) => writing((db) => db.autocommit(options)),
    hot: {
      read: async (...statement) => (await opening).hot.read(...statement),
      insert: async (...statement) => (await opening).hot.insert(...statement),
      update: async (row, ...statement) => (await opening).hot.update(row, ...statement),
    },
    write: async (work) => (await opening).write(work),
    untilKnown: async (write) => (await opening).untilKnown(write),
    writeSerialized: async (lock, work) => (await opening).writeSerialized(lock, work),
    get counts() {
      return opened?.counts ?? counts;
    },
    poolUse: () => undefined,
    answers: async () => (await opening).answers(),
    close() {
      closing ??= opening.then((db) => db.close());
      return closing;
    },
  };
}

/** Reads rows directly, without the code under test. */
export function readRows<Row extends DriverRow<Row> = DriverRow>(
  db: Pick<Database, "read">,
  text: StatementText,
  ...parameters: Value[]
): Promise<readonly Row[]> {
  return db.read.all(sql<Value[], Row>(text), ...parameters);
}

export async function countRows(db: Pick<Database, "read">, table: string, where = "TRUE"): Promise<number> {
  const [row] = await readRows<{ found: number }>(db, `SELECT count(*) AS found FROM ${table} WHERE ${where}`);
  return row?.found ?? 0;
}

/** Changes rows directly, without the code under test. @returns the number of rows. */
export function changeRows(
  db: Pick<Database, "autocommit">,
  text: StatementText,
  ...parameters: Value[]
): Promise<number> {
  return db.autocommit({ retry: "whenNotExecuted" }).run(sql<Value[]>(text), ...parameters);
}

/** All table names, sorted. */
export async function tablesOf(db: Pick<Database, "read">): Promise<readonly string[]> {
  const rows = await readRows(db, {
    sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
  });
  return rows.map(({ name }) => String(name));
}

/** The SQLite engine with its own connections, for tests of the database files. @throws on another engine. */
export function sqliteOf(db: Database): SqliteDatabase {
  if (!isSqlite(db)) throw new Error("This test is about SQLite: vitest.config.ts must not run it on another engine.");
  return db;
}

function isSqlite(db: Database): db is SqliteDatabase {
  return db.engine === "sqlite";
}
