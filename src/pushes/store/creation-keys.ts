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
const find = sql<[userId: number, digest: Buffer], { databaseTime: number; pushId: number | null }>(
  forEachEngine(
    (clock) => `SELECT ${clock} AS databaseTime,
     (SELECT push_id FROM creation_keys WHERE user_id = ? AND digest = ?) AS pushId`,
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
    /** @returns the database's time, and the id of the push that the user has created under the key; null: none. */
    async find(userId: number, digest: Buffer) {
      const found = await db.read.one(find, userId, digest);
      if (found === undefined) throw new Error("The database did not tell its time.");
      return found;
    },
    /** By the database's clock, as they were written. @returns how many. */
    removeOld: (limit: number): Promise<number> => db.autocommit({ retry: "whenNotExecuted" }).run(removeOld, limit),
  };
}
