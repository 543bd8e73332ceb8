import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeFolder } from "../../../test/support/folders.ts";
import type { GroupCommitLimits } from "./group-commit.ts";
import type { SyncFile } from "./log-sync.ts";
import { groupCommitLimits, openSqlite, type SqliteDatabase } from "./sqlite.ts";

export interface TestDatabase {
  readonly db: SqliteDatabase;
  readonly path: string;
  /** Codes reported as storage failures. */
  readonly failures: readonly string[];
  /** Advances the monotonic clock, which does not move by itself. */
  readonly advance: (ms: number) => void;
}

/** @param path of an existing database; default: a new one. */
export function makeTestDatabase(
  options: { path?: string; limits?: Partial<GroupCommitLimits>; syncLog?: SyncFile } = {},
): TestDatabase {
  const { path = join(makeFolder(), "test.sqlite3"), syncLog } = options;
  const failures: string[] = [];
  let monotonicMs = 0;
  const db = openSqlite({
    path,
    monotonicMs: () => monotonicMs,
    onStorageFailure: (code) => failures.push(code),
    onTruncationFailed: (error) => failures.push(String(error)),
    limits: { ...groupCommitLimits, ...options.limits },
    ...(syncLog !== undefined && { syncLog }),
  });
  onTestFinished(() => db.close());
  return {
    db,
    path,
    failures,
    advance(ms) {
      monotonicMs += ms;
    },
  };
}

/** Creates a table with a small and a large column. */
export function makeItems(db: SqliteDatabase) {
  db.writer.exec("CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, content BLOB NOT NULL)");
  const insert = db.writer.prepare("INSERT INTO items (id, content) VALUES (?, zeroblob(?))");
  const insertMany = db.writer.prepare(
    `WITH RECURSIVE ids (id) AS (SELECT ? UNION ALL SELECT id + 1 FROM ids LIMIT ?)
     INSERT INTO items (id, content) SELECT id, zeroblob(3000) FROM ids`,
  );
  const ids = db.reader.prepare<[], { id: number }>("SELECT id FROM items ORDER BY id");
  return {
    insert: (id: number, bytes = 10) => db.write(() => insert.run(id, bytes).changes),
    insertNow: (id: number, bytes = 10) => insert.run(id, bytes).changes,
    insertMany: (from: number, count: number) => db.write(() => insertMany.run(from, count).changes),
    ids: () => ids.all().map((row) => row.id),
  };
}
