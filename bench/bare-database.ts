import type { PoolClient } from "pg";
import { PostgresStatements } from "../src/database/postgres/statements.ts";
import { createHotPath, type HotDatabase, type HotPath } from "../src/pushes/store/push-store.ts";

/**
 * The upper limit on PostgreSQL: the product's own statements, sent by the same driver on one connection, and no other
 * work.
 */
export type BareDatabase = HotDatabase;

export function bareDatabase(connection: PoolClient): BareDatabase {
  const statements = new PostgresStatements(connection, true);
  return {
    engine: "postgres",
    hot: {
      read: (...statement) => statements.one(...statement),
      insert: (...statement) => statements.run(...statement),
      update: (_row, ...statement) => statements.one(...statement),
    },
    read: statements,
    lookUp: statements,
    untilKnown: (write) => write(undefined),
    autocommit: () => statements,
    write: () => Promise.reject(new Error("A statement alone is measured, no transaction.")),
  };
}

export function bareHotPath(db: BareDatabase): HotPath {
  return createHotPath(db);
}
