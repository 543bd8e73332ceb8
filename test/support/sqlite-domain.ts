import type { Database } from "../../src/database/database.ts";
import type { SqliteDatabase } from "../../src/database/sqlite/sqlite.ts";

/** The engine with its own connections, for tests of what holds of its files alone. */
export function sqliteOf(db: Database): SqliteDatabase {
  if (!isSqlite(db)) throw new Error("This test is about SQLite: vitest.config.ts must not run it on another engine.");
  return db;
}

function isSqlite(db: Database): db is SqliteDatabase {
  return db.engine === "sqlite";
}
