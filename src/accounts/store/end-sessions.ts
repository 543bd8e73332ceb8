import type { Writing } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";

const removeSessions = sql<[userId: number, exceptId: number | null]>(
  "DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?",
);

/**
 * What must happen together with a change of password or factors: whoever else is signed in no longer is.
 * @param exceptId the session that made the change; null: none stays.
 */
export async function endSessions(unit: Writing, userId: number, exceptId: number | null): Promise<void> {
  await unit.run(removeSessions, userId, exceptId);
}
