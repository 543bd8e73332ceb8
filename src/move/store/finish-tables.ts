import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

const countAnonymous = sql<[]>(
  `UPDATE totals SET bytes =
     (SELECT coalesce(sum(stored_bytes), 0) FROM pushes WHERE ended_at IS NULL AND owner_id IS NULL)
   WHERE name = 'live_anonymous'`,
);

const continueEntries = sql<[], { id: number }>(
  `SELECT setval(pg_get_serial_sequence('admin_audit_entries', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL) AS id
   FROM admin_audit_entries`,
);

/** What an engine keeps beside the rows, once they are all there: SQLite a total, PostgreSQL the next number. */
export async function finishTables(tx: Transaction, engine: Database["engine"]): Promise<void> {
  switch (engine) {
    case "sqlite":
      await tx.run(countAnonymous);
      return;
    case "postgres":
      await tx.one(continueEntries);
      return;
    default:
      engine satisfies never;
  }
}
