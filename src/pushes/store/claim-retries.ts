import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import type { EarlierViews } from "../push.ts";
import { endReasons } from "../stored-values.ts";
import { insertTickets, type NewTicket } from "./download-tickets.ts";
import { atDatabaseTime, type ClaimKey, type TakenKey } from "./idempotency-keys.ts";
import { type PushRow, readPushes, type StoredPush } from "./tables.ts";
import {
  deleteKeysWithoutCopy,
  deletePayload,
  destroySecretsOf,
  keepsTrail,
  sqlOfLockedRows,
  writeEntry,
  writeRowSecret,
} from "./write-operations.ts";

const lockPush = sqlOfLockedRows<[pushId: number], { id: number }>("SELECT id FROM pushes WHERE id = ?", "pushes");
const nameCopy = sql<[copyId: number | null, pushId: number, digest: Buffer]>({
  sqlite: `UPDATE claim_retries SET row_secret_id = coalesce(?, last_insert_rowid()) WHERE push_id = ? AND digest = ?`,
  postgres: `UPDATE claim_retries SET row_secret_id = ? WHERE push_id = ? AND digest = ?`,
});

/** For the transaction that counts the view, before it counts. */
export async function insertClaimCopy(
  tx: Transaction,
  { pushId, digest, secretSealed, copyId }: TakenKey<ClaimKey>,
): Promise<void> {
  // With the row secrets, where overwriting it leaves no copy of the copy.
  await tx.run(nameCopy, await writeRowSecret(tx, copyId, secretSealed), pushId, digest);
}

const nameEarlierViews = sql<[count: number, lastAt: number | null, pushId: number, digest: Buffer]>(
  "UPDATE claim_retries SET earlier_views = ?, earlier_view_at = ? WHERE push_id = ? AND digest = ?",
);

/** In the same transaction once the view is counted: only then are the earlier ones known. */
export async function writeEarlierViews(
  tx: Transaction,
  { pushId, digest }: TakenKey<ClaimKey>,
  { count, lastAt }: EarlierViews,
): Promise<void> {
  await tx.run(nameEarlierViews, count, lastAt, pushId, digest);
}

interface Found {
  readonly databaseTime: number;
  /** null: the key was not used. */
  readonly pushId: number | null;
  /** null: the answer cannot be repeated. */
  readonly sealed: Buffer | null;
  readonly count: number | null;
  readonly lastAt: number | null;
}
// This is no join: SQLite would plan it again at every execution. The second row is there if the key was not used, too.
const useOf = sql<[now: number, pushId: number, digest: Buffer], Found>(
  atDatabaseTime(
    (clock) => `SELECT ${clock} AS databaseTime, push_id AS pushId,
     (SELECT sealed FROM row_secrets WHERE id = row_secret_id AND expires_at > ?) AS sealed, earlier_views AS count,
     earlier_view_at AS lastAt
   FROM claim_retries WHERE push_id = ? AND digest = ?
   UNION ALL SELECT ${clock}, NULL, NULL, NULL, NULL`,
  ),
);
const payloadOf = sql<[pushId: number], { sealed: Buffer }>("SELECT sealed FROM payloads WHERE push_id = ?");
// A person's end and an edit void all copies. Both change a column of the guard, so it does not depend on the order of locks.
const repeatView = sql<
  [pushId: number, sealGeneration: number, copyOf: number, digest: Buffer, now: number],
  StoredPush
>(
  `UPDATE pushes SET audit_count = audit_count + 1
   WHERE id = ? AND seal_generation = ? AND (ended_at IS NULL OR end_reason IN (${endReasons.views}, ${endReasons.time}))
     AND EXISTS (SELECT 1 FROM claim_retries
       WHERE push_id = ? AND digest = ? AND expires_at > ? AND row_secret_id IS NOT NULL)
   RETURNING ${readPushes.selectList}`,
);

const isDue = "row_secret_id IS NOT NULL AND (expires_at <= ? OR expires_at > ?)";
const due = sql<[now: number, latest: number, limit: number], { pushId: number }>(
  `SELECT push_id AS pushId FROM claim_retries WHERE ${isDue} ORDER BY expires_at LIMIT ?`,
);
type DueCopies = [pushId: number, now: number, latest: number];
const destroyDueCopies = destroySecretsOf<DueCopies>(`claim_retries WHERE push_id = ? AND ${isDue}`);
const forgetDueCopies = sql<DueCopies>(`UPDATE claim_retries SET row_secret_id = NULL WHERE push_id = ? AND ${isDue}`);
const keepPayload = sql<[pushId: number], { endedAt: number | null; keepsPayload: number }>(
  `UPDATE pushes SET keeps_payload = CASE WHEN EXISTS
     (SELECT 1 FROM claim_retries WHERE push_id = pushes.id AND row_secret_id IS NOT NULL) THEN 1 ELSE 0 END
   WHERE id = ? RETURNING ended_at AS endedAt, keeps_payload AS keepsPayload`,
);

interface Repetition {
  readonly sealGeneration: number;
  readonly digest: Buffer;
  readonly now: number;
  readonly audit: AuditRecord;
  readonly tickets: readonly NewTicket[];
}

export function createClaimRetries(db: Pick<Database, "read" | "write">) {
  return {
    /**
     * Whether a claim was counted under the key, and the database's time.
     * @returns `copy`: the sealed copy of the row secret, and what the claim said about earlier views; null: the answer to
     * the claim cannot be repeated.
     */
    async find(pushId: number, digest: Buffer, now: number) {
      const rows = await db.read.all(useOf, now, pushId, digest);
      const found = rows.find((row) => row.pushId !== null) ?? rows[0];
      if (found === undefined) throw new Error("The database did not tell its time.");
      const { databaseTime, sealed, count, lastAt } = found;
      const copy = sealed === null ? null : { sealed, earlierViews: { count: count ?? 0, lastAt } };
      return { databaseTime, isUsed: found.pushId !== null, copy };
    },
    /** It also repeats the claim of an ended push, whose payload stays as long as its copies. */
    payload: async (pushId: number): Promise<Buffer | undefined> => (await db.read.one(payloadOf, pushId))?.sealed,
    /** Logs a repeated answer and stores its tickets. @returns undefined: the copy was voided meanwhile, so the answer must not be sent. */
    repeat: (
      pushId: number,
      { sealGeneration, digest, now, audit, tickets }: Repetition,
    ): Promise<PushRow | undefined> =>
      db.write(async (tx) => {
        const stored = await tx.one(repeatView, pushId, sealGeneration, pushId, digest, now);
        if (stored === undefined) return undefined;
        await insertTickets(tx, pushId, tickets, false);
        if (keepsTrail(stored)) await writeEntry(tx, pushId, stored.auditCount, audit);
        return readPushes.decode(stored);
      }),
    /**
     * Overwrites copies that have expired, and the payloads that stayed for them. While the push can be opened, its keys
     * stay used.
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
          await tx.run(destroyDueCopies, pushId, now, latest);
          removed += await tx.run(forgetDueCopies, pushId, now, latest);
          const push = await tx.one(keepPayload, pushId);
          if (push?.endedAt === null) continue;
          await tx.run(deleteKeysWithoutCopy, pushId);
          if (push?.keepsPayload !== 1) await tx.run(deletePayload, pushId);
        }
        return removed;
      });
    },
  };
}
