import type { Unit } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";

const countAnonymous = sql<[]>(
  `UPDATE totals SET bytes =
     (SELECT coalesce(sum(stored_bytes), 0) FROM pushes WHERE ended_at IS NULL AND owner_id IS NULL)
   WHERE name = 'live_anonymous'`,
);

/** What SQLite keeps in step with each write, once everything is there. */
export async function countTotals(unit: Unit): Promise<void> {
  await unit.run(countAnonymous);
}
