import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { auditKinds } from "../../pushes/stored-values.ts";

/** What people did in this installation. */
export interface Activity {
  readonly views: number;
  /** Pushes that were edited or ended by hand. */
  readonly edits: number;
  /** Accounts that were signed in to. */
  readonly signIns: number;
  /** Pushes, accounts and requests that were created here. */
  readonly newRows: number;
}

const counts = sql<number[], Activity>(
  `SELECT
     (SELECT coalesce(sum(times), 0) FROM audit_entries WHERE kind = ${auditKinds.view} AND created_at >= ?) AS views,
     (SELECT count(*) FROM audit_entries
       WHERE kind IN (${auditKinds.edit}, ${auditKinds.expire}) AND created_at >= ?) AS edits,
     (SELECT count(*) FROM users WHERE last_signed_in_at >= ?) AS "signIns",
     (SELECT count(*) FROM pushes WHERE created_at >= ?
       AND NOT EXISTS (SELECT 1 FROM imported_links WHERE imported_links.push_id = pushes.id))
     + (SELECT count(*) FROM users WHERE created_at >= ?)
     + (SELECT count(*) FROM requests WHERE created_at >= ?) AS "newRows"`,
);

/** @param time milliseconds since the epoch. Imported rows are older. */
export async function findActivity(connection: ReadConnection, time: number): Promise<Activity> {
  const found = await connection.one(counts, time, time, time, time, time, time);
  return found ?? { views: 0, edits: 0, signIns: 0, newRows: 0 };
}
