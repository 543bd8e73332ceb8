import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

/** The idempotency key of a request that creates a push. */
export interface CreationKey {
  readonly userId: number;
  /** Keyed, of the idempotency key. */
  readonly digest: Buffer;
  readonly expiresAt: number;
}

/** The user has created a push under the same idempotency key. Undoes the transaction. */
export class CreationRepeatedError extends Error {
  override readonly name = "CreationRepeatedError";
}

const insertKey = sql<[userId: number, digest: Buffer, pushId: number, expiresAt: number, now: number]>(
  `INSERT INTO creation_keys (user_id, digest, push_id, expires_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (user_id, digest) DO UPDATE SET push_id = excluded.push_id, expires_at = excluded.expires_at
   WHERE creation_keys.expires_at <= ?`,
);
const pushOf = sql<[userId: number, digest: Buffer, now: number], { pushId: number }>(
  `SELECT push_id AS "pushId" FROM creation_keys WHERE user_id = ? AND digest = ? AND expires_at > ?`,
);
const expired =
  "SELECT user_id, digest FROM creation_keys WHERE expires_at <= ? OR expires_at > ? ORDER BY expires_at LIMIT ?";
const removeExpired = sql<[now: number, latest: number, limit: number]>({
  sqlite: `DELETE FROM creation_keys WHERE (user_id, digest) IN (${expired})`,
  postgres: `DELETE FROM creation_keys WHERE (user_id, digest) IN (${expired} FOR UPDATE SKIP LOCKED)`,
});

/**
 * For the transaction that inserts the push, before anything else: of concurrent requests under one key, the second one waits
 * for the first. Replaces an expired row of the key. @throws CreationRepeatedError.
 */
export async function insertCreationKey(
  tx: Transaction,
  pushId: number,
  { userId, digest, expiresAt }: CreationKey,
  now: number,
): Promise<void> {
  if ((await tx.run(insertKey, userId, digest, pushId, expiresAt, now)) !== 1) throw new CreationRepeatedError();
}

export type CreationKeys = ReturnType<typeof createCreationKeys>;

export function createCreationKeys(db: Pick<Database, "read" | "autocommit">) {
  return {
    /** The id of the push that the user has created under the key. */
    find: async (userId: number, digest: Buffer, now: number): Promise<number | undefined> =>
      (await db.read.one(pushOf, userId, digest, now))?.pushId,
    /** @param latest keys that expire later were made before the clock was set back. @returns how many. */
    removeExpired: (now: number, latest: number, limit: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(removeExpired, now, latest, limit),
  };
}
