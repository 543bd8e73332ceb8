import type { Database } from "../../db/sqlite.ts";

/**
 * What must happen together with a change of password or factors: whoever else is signed in no longer is. The function
 * returned runs inside a unit of `db.write`. @param exceptId the session that made the change; null: none stays.
 */
export function prepareEndSessions(db: Database): (userId: number, exceptId: number | null) => void {
  const remove = db.writer.prepare<[number, number | null]>("DELETE FROM sessions WHERE user_id = ? AND id IS NOT ?");
  return (userId, exceptId) => void remove.run(userId, exceptId);
}
