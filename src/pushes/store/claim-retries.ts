import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import { type EarlierViews, endReasons } from "../push.ts";
import { insertTickets, type NewTicket } from "./download-tickets.ts";
import { type PushRow, readPushes, type StoredPush } from "./tables.ts";
import {
  deletePayload,
  destroyRowSecret,
  keepsTrail,
  sqlOfLockedRows,
  writeEntry,
  writeRowSecret,
} from "./write-operations.ts";

/** What lets a claim be repeated: a copy of the row secret that only the client's idempotency key opens. */
export interface ClaimRetry {
  /** Keyed, of the idempotency key. */
  readonly digest: Buffer;
  readonly secretSealed: Buffer;
  /** An id that no push has: on PostgreSQL the id of the row of the copy. */
  readonly copyId: number;
  readonly expiresAt: number;
}

/** A claim under the same idempotency key was counted before. Undoes the transaction. */
export class ClaimRepeatedError extends Error {
  override readonly name = "ClaimRepeatedError";
}

const insertRetry = sql<[pushId: number, digest: Buffer, expiresAt: number]>(
  `INSERT INTO claim_retries (push_id, digest, row_secret_id, expires_at, earlier_views) VALUES (?, ?, 0, ?, 0)
   ON CONFLICT (push_id, digest) DO NOTHING`,
);
const lockPush = sqlOfLockedRows<[pushId: number], { id: number }>("SELECT id FROM pushes WHERE id = ?", "pushes");
const takeExpired = sql<[pushId: number, digest: Buffer, now: number], { rowSecretId: number }>(
  `DELETE FROM claim_retries WHERE push_id = ? AND digest = ? AND expires_at <= ? RETURNING row_secret_id AS "rowSecretId"`,
);
const nameCopy = sql<[copyId: number | null, pushId: number, digest: Buffer]>({
  sqlite: `UPDATE claim_retries SET row_secret_id = coalesce(?, last_insert_rowid()) WHERE push_id = ? AND digest = ?`,
  postgres: `UPDATE claim_retries SET row_secret_id = ? WHERE push_id = ? AND digest = ?`,
});

/**
 * For the transaction that counts the view, before it counts: of concurrent claims under one key, the second one waits for the
 * first. Replaces an expired row of the key.
 * @throws ClaimRepeatedError.
 */
export async function insertClaimRetry(
  tx: Transaction,
  engine: Database["engine"],
  pushId: number,
  { digest, secretSealed, copyId, expiresAt }: ClaimRetry,
  now: number,
): Promise<void> {
  const insert = async () => (await tx.run(insertRetry, pushId, digest, expiresAt)) === 1;
  if (!(await insert())) {
    // First, as in every transaction that deletes copies.
    await tx.one(lockPush, pushId);
    const expired = await tx.one(takeExpired, pushId, digest, now);
    if (expired === undefined) throw new ClaimRepeatedError();
    await tx.run(destroyRowSecret, expired.rowSecretId);
    if (!(await insert())) throw new ClaimRepeatedError();
  }
  // With the row secrets, where overwriting it leaves no copy of the copy.
  await tx.run(nameCopy, await writeRowSecret(tx, engine, copyId, secretSealed), pushId, digest);
}

const nameEarlierViews = sql<[count: number, lastAt: number | null, pushId: number, digest: Buffer]>(
  "UPDATE claim_retries SET earlier_views = ?, earlier_view_at = ? WHERE push_id = ? AND digest = ?",
);

/** In the same transaction once the view is counted: only then are the earlier ones known. */
export async function writeEarlierViews(
  tx: Transaction,
  pushId: number,
  { digest }: ClaimRetry,
  { count, lastAt }: EarlierViews,
): Promise<void> {
  await tx.run(nameEarlierViews, count, lastAt, pushId, digest);
}

const copyOf = sql<
  [pushId: number, digest: Buffer, now: number],
  { sealed: Buffer; count: number; lastAt: number | null }
>(
  `SELECT sealed, earlier_views AS count, earlier_view_at AS "lastAt" FROM claim_retries JOIN row_secrets ON row_secrets.id = claim_retries.row_secret_id
   WHERE push_id = ? AND digest = ? AND expires_at > ?`,
);
const payloadOf = sql<[pushId: number], { sealed: Buffer }>("SELECT sealed FROM payloads WHERE push_id = ?");
// A person's end and an edit void all copies. Both change a column of the guard, so it does not depend on the order of locks.
const repeatView = sql<
  [pushId: number, sealGeneration: number, copyOf: number, digest: Buffer, now: number],
  StoredPush
>(
  `UPDATE pushes SET audit_count = audit_count + 1
   WHERE id = ? AND seal_generation = ? AND (ended_at IS NULL OR end_reason IN (${endReasons.views}, ${endReasons.time}))
     AND EXISTS (SELECT 1 FROM claim_retries WHERE push_id = ? AND digest = ? AND expires_at > ?)
   RETURNING ${readPushes.selectList}`,
);

const due = sql<[now: number, latest: number, limit: number], { pushId: number }>(
  `SELECT push_id AS "pushId" FROM claim_retries WHERE expires_at <= ? OR expires_at > ? ORDER BY expires_at LIMIT ?`,
);
const takeDue = sql<[pushId: number, now: number, latest: number], { rowSecretId: number }>(
  `DELETE FROM claim_retries WHERE push_id = ? AND (expires_at <= ? OR expires_at > ?)
   RETURNING row_secret_id AS "rowSecretId"`,
);
const keepPayload = sql<[pushId: number], { endedAt: number | null; keepsPayload: number }>(
  `UPDATE pushes SET keeps_payload =
     CASE WHEN EXISTS (SELECT 1 FROM claim_retries WHERE push_id = pushes.id) THEN 1 ELSE 0 END
   WHERE id = ? RETURNING ended_at AS endedAt, keeps_payload AS keepsPayload`,
);

type RetryDatabase = Pick<Database, "engine" | "read" | "write">;

export type ClaimRetries = ReturnType<typeof createClaimRetries>;

export function createClaimRetries(db: RetryDatabase) {
  return {
    /** The sealed copy of the row secret, and what the claim said about earlier views. */
    async find(pushId: number, digest: Buffer, now: number) {
      const found = await db.read.one(copyOf, pushId, digest, now);
      return found && { sealed: found.sealed, earlierViews: { count: found.count, lastAt: found.lastAt } };
    },
    /** Also of an ended push, whose payload stays as long as its copies. */
    payload: async (pushId: number): Promise<Buffer | undefined> => (await db.read.one(payloadOf, pushId))?.sealed,
    /** Logs a repeated answer and stores its tickets. @returns undefined: the copy was voided meanwhile, so the answer must not be sent. */
    repeat: (
      pushId: number,
      sealGeneration: number,
      digest: Buffer,
      now: number,
      audit: AuditRecord,
      tickets: readonly NewTicket[],
    ): Promise<PushRow | undefined> =>
      db.write(async (tx) => {
        const stored = await tx.one(repeatView, pushId, sealGeneration, pushId, digest, now);
        if (stored === undefined) return undefined;
        await insertTickets(tx, db.engine, pushId, tickets, false);
        if (keepsTrail(stored)) await writeEntry(tx, pushId, stored.auditCount, audit);
        return readPushes.decode(stored);
      }),
    /**
     * Overwrites copies that have expired, and the payloads that stayed for them.
     * @param latest copies that expire later were made before the clock was set back. @returns how many.
     */
    async removeExpired(now: number, latest: number, limit: number): Promise<number> {
      const found = (await db.read.all(due, now, latest, limit)).map(({ pushId }) => pushId);
      // In one order, so that two processes do not wait for each other.
      const pushIds = [...new Set(found)].sort((a, b) => a - b);
      if (pushIds.length === 0) return 0;
      return await db.write(async (tx) => {
        let removed = 0;
        for (const pushId of pushIds) {
          // A concurrent claim waits for this lock, and then finds `keeps_payload` as it is left here.
          await tx.one(lockPush, pushId);
          const copies = await tx.all(takeDue, pushId, now, latest);
          for (const { rowSecretId } of copies) await tx.run(destroyRowSecret, rowSecretId);
          const push = await tx.one(keepPayload, pushId);
          if (push?.endedAt !== null && push?.keepsPayload !== 1) await tx.run(deletePayload, pushId);
          removed += copies.length;
        }
        return removed;
      });
    },
  };
}
