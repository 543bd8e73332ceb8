import type { WriteConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

const removeSessions = sql<[userId: number, exceptId: number | null]>(
  "DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?",
);

/**
 * What must happen together with a change of password or factors: whoever else is signed in no longer is.
 * @param exceptId the session that made the change; null: none stays.
 */
export async function endSessions(tx: WriteConnection, userId: number, exceptId: number | null): Promise<void> {
  await tx.run(removeSessions, userId, exceptId);
}
