import { dayMs } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { databaseNow } from "./idempotency-keys.ts";

/** How long a row stays, whether its push can still be opened or not. */
const keptMs = dayMs;

const forEachEngine = (text: (clock: string) => string) => ({
  sqlite: text(databaseNow.sqlite),
  postgres: text(databaseNow.postgres),
});
const find = sql<
  [userId: number, digest: Buffer],
  { databaseTime: number; pushId: number | null; given: number | null }
>(
  forEachEngine(
    (clock) => `SELECT ${clock} AS databaseTime, push_id AS pushId, given
     FROM (SELECT 1) AS one LEFT JOIN creation_keys ON user_id = ? AND digest = ?`,
  ),
);
const old = (clock: string) =>
  `SELECT user_id, digest FROM creation_keys WHERE taken_at <= ${clock} - ${keptMs} ORDER BY taken_at LIMIT ?`;
const removeOld = sql<[limit: number]>({
  sqlite: `DELETE FROM creation_keys WHERE (user_id, digest) IN (${old(databaseNow.sqlite)})`,
  postgres: `DELETE FROM creation_keys WHERE (user_id, digest) IN (${old(databaseNow.postgres)} FOR UPDATE SKIP LOCKED)`,
});

export type CreationKeys = ReturnType<typeof createCreationKeys>;

/** Keys of requests that created a push. `takeKey` writes them. */
export function createCreationKeys(db: Pick<Database, "read" | "autocommit">) {
  return {
    /** @returns the database's time, and the push that the user has created under the key, with what was given; null: none. */
    async find(userId: number, digest: Buffer) {
      const found = await db.read.one(find, userId, digest);
      if (found === undefined) throw new Error("The database did not tell its time.");
      return found;
    },
    /** By the database's clock, as they were written. @returns how many. */
    removeOld: (limit: number): Promise<number> => db.autocommit({ retry: "whenNotExecuted" }).run(removeOld, limit),
  };
}
