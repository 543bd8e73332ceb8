import { type Clock, dayMs, hourMs } from "../../base/clock.ts";
import { unavailable } from "../../base/errors.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";

/**
 * No clock of a process decides whether an idempotency key was used: a process may be suspended at any line, for any time.
 * A key's row is never replaced, so a late write meets it. A row stays while a second write under its key could have an
 * effect: that of a claim while its push can be opened, that of a creation for a day.
 */

/** The idempotency key of a request. Only `takeKey` writes its row. */
export type IdempotencyKey = ClaimKey | CreationKey;

interface AnyKey {
  readonly digest: Buffer;
  /** When its request arrived: by the database's clock, as what it is compared with. */
  readonly arrivedAt: number;
}

export interface ClaimKey extends AnyKey {
  readonly pushId: number;
  /** A copy of the row secret, which only the client's idempotency key opens. It lets the claim be repeated. */
  readonly secretSealed: Buffer;
  /** An id that no push has: on PostgreSQL the id of the row of the copy. */
  readonly copyId: number;
  /** When the copy expires. The key itself does not. */
  readonly expiresAt: number;
}

export interface CreationKey extends AnyKey {
  readonly userId: number;
  readonly pushId: number;
  /** Which settings the request names, a bit each. The others are the server's defaults, which may be others when it is repeated. */
  readonly given: number;
}

/** The key of a request to create a push, before it is known whether it was used. */
export type AskedKey = Pick<CreationKey, "userId" | "digest" | "given">;

declare const isTaken: unique symbol;

/** A key whose row the transaction has written. Writes of a request with a key take one, and only `takeKey` makes one. */
export type TakenKey<Key extends IdempotencyKey> = Key & { readonly [isTaken]: true };

/** The key was used before. Undoes the transaction. */
export class KeyUsedError extends Error {
  override readonly name = "KeyUsedError";
}

/**
 * @param text with the database's own time, in ms since the epoch, when the statement runs. `now()` would be the start of the
 * transaction. `bytes`: a parameter of a SELECT.
 */
export const atDatabaseTime = (text: (clock: string, bytes: string) => string) => ({
  sqlite: text("CAST(unixepoch('subsec') * 1000 AS INTEGER)", "?"),
  postgres: text("CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", "CAST(? AS BYTEA)"),
});

/**
 * When a request arrived, by the database's clock. A process's clock may be wrong: it only tells how long ago that was.
 * @param receivedAt by the process's clock. @param databaseTime as the request has just read it.
 */
export function arrivalOf(clock: Clock, receivedAt: number, databaseTime: number): number {
  return databaseTime - Math.max(0, clock.now() - receivedAt);
}

/** Rows of creations stay for a day, so this leaves much room for a slow request. */
const latestAfterMs = hourMs;

const bigint = "CAST(? AS BIGINT)";

const insertClaimKey = sql<[pushId: number, digest: Buffer, expiresAt: number, arrivedAt: number]>(
  atDatabaseTime(
    (clock, bytes) => `INSERT INTO claim_retries (push_id, digest, expires_at, earlier_views)
     SELECT ${bigint}, ${bytes}, ${bigint}, 0 WHERE ${clock} < ${bigint} + ${latestAfterMs}
     ON CONFLICT (push_id, digest) DO NOTHING`,
  ),
);
const findClaimKey = sql<[pushId: number, digest: Buffer], { found: number }>(
  "SELECT 1 AS found FROM claim_retries WHERE push_id = ? AND digest = ?",
);
const insertCreationKey = sql<[userId: number, digest: Buffer, pushId: number, given: number, arrivedAt: number]>(
  atDatabaseTime(
    (clock, bytes) => `INSERT INTO creation_keys (user_id, digest, push_id, given, taken_at)
     SELECT ${bigint}, ${bytes}, ${bigint}, ${bigint}, ${clock} WHERE ${clock} < ${bigint} + ${latestAfterMs}
     ON CONFLICT (user_id, digest) DO NOTHING`,
  ),
);
const findCreationKey = sql<[userId: number, digest: Buffer], { found: number }>(
  "SELECT 1 AS found FROM creation_keys WHERE user_id = ? AND digest = ?",
);

async function writeRow(tx: Transaction, key: IdempotencyKey): Promise<boolean> {
  const { pushId, digest, arrivedAt } = key;
  const written =
    "userId" in key
      ? await tx.run(insertCreationKey, key.userId, digest, pushId, key.given, arrivedAt)
      : await tx.run(insertClaimKey, pushId, digest, key.expiresAt, arrivedAt);
  return written === 1;
}

async function isUsed(tx: Transaction, key: IdempotencyKey): Promise<boolean> {
  const { pushId, digest } = key;
  const found =
    "userId" in key ? await tx.one(findCreationKey, key.userId, digest) : await tx.one(findClaimKey, pushId, digest);
  return found !== undefined;
}

/**
 * First in the transaction of a request with a key: of concurrent requests under one key, the second one waits for the first.
 * @throws KeyUsedError; AppError unavailable when the request arrived more than an hour ago, so that the row of another
 * request under the key may have been removed since.
 */
export async function takeKey<Key extends IdempotencyKey>(tx: Transaction, key: Key): Promise<TakenKey<Key>> {
  if (await writeRow(tx, key)) return key as TakenKey<Key>;
  if (await isUsed(tx, key)) throw new KeyUsedError();
  throw unavailable("The server stood still while it handled this. Send it again.", 1);
}

/** How long the row of a creation stays, whether its push can still be opened or not. */
const keptMs = dayMs;

const findCreation = sql<
  [userId: number, digest: Buffer],
  { databaseTime: number; pushId: number | null; given: number | null }
>(
  atDatabaseTime(
    (clock) => `SELECT ${clock} AS databaseTime, push_id AS pushId, given
     FROM (SELECT 1) AS one LEFT JOIN creation_keys ON user_id = ? AND digest = ?`,
  ),
);
const oldCreations = atDatabaseTime(
  (clock) =>
    `SELECT user_id, digest FROM creation_keys WHERE taken_at <= ${clock} - ${keptMs} ORDER BY taken_at LIMIT ?`,
);
const removeOld = sql<[limit: number]>({
  sqlite: `DELETE FROM creation_keys WHERE (user_id, digest) IN (${oldCreations.sqlite})`,
  postgres: `DELETE FROM creation_keys WHERE (user_id, digest) IN (${oldCreations.postgres} FOR UPDATE SKIP LOCKED)`,
});

/** Keys of requests that created a push. `takeKey` writes them. */
export function createCreationKeys(db: Pick<Database, "read" | "autocommit">) {
  return {
    /** @returns the database's time, and the push that the user has created under the key, with what was given; null: none. */
    async find(userId: number, digest: Buffer) {
      const found = await db.read.one(findCreation, userId, digest);
      if (found === undefined) throw new Error("The database did not tell its time.");
      return found;
    },
    /** By the database's clock, as they were written. @returns how many. */
    removeOld: (limit: number): Promise<number> => db.autocommit({ retry: "whenNotExecuted" }).run(removeOld, limit),
  };
}
