import { capabilitiesOf, type Database, type InTransaction, type Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import { endReasons } from "../stored-values.ts";
import { hasNoTicket, hasNoWaitingTicket } from "./download-tickets.ts";
import { destroyLinkSecret } from "./link-secrets.ts";
import { deleteLinkDeliveries, deleteLinkDeliveryDay, deleteViewNotifications } from "./notifications.ts";
import { removeUnfinishedUploads } from "./resumable-uploads.ts";
import {
  deleteAuditEntries,
  deletePayload,
  destroyClaimKeys,
  destroyTickets,
  endPush,
  queueBlob,
  sqlOfFreeRows,
} from "./write-operations.ts";

/**
 * A deletion may merge a page with its neighbours and so copy their rows. A page holds about 49 key rows and a merge covers
 * three pages. With this many overwritten rows in between, no live key is copied.
 */
const shieldRows = 256;

const due = sqlOfFreeRows<[now: number, limit: number], { pushId: number; expiresAt: number }>(
  `SELECT id AS pushId, expires_at AS expiresAt FROM pushes
   WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
);
const tombstonesAfter = sql<
  [endedAt: number, id: number, endedBy: number, limit: number],
  { id: number; endedAt: number }
>(
  `SELECT id, ended_at AS endedAt FROM pushes WHERE ended_at IS NOT NULL AND owner_id IS NULL
   AND (ended_at, id) > (?, ?) AND ended_at <= ? ORDER BY ended_at, id LIMIT ?`,
);
const noTombstone = { id: 0, endedAt: 0 };
const tombstones = sqlOfFreeRows<[endedBefore: number, limit: number], { id: number }>(
  "SELECT id FROM pushes WHERE ended_at IS NOT NULL AND ended_at < ? AND owner_id IS NULL ORDER BY ended_at LIMIT ?",
);
// A recipient who has spent the last view may still download its files, or repeat the claim.
const purgeable = sqlOfFreeRows<[endedBefore: number, limit: number], { id: number }>(
  `SELECT id FROM pushes WHERE ended_at IS NOT NULL AND ended_at < ? AND owner_id IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM download_tickets WHERE push_id = pushes.id)
     AND NOT EXISTS (SELECT 1 FROM claim_retries WHERE push_id = pushes.id AND row_secret_id IS NOT NULL)
   ORDER BY ended_at LIMIT ?`,
);
const deletePush = sql<[pushId: number]>("DELETE FROM pushes WHERE id = ? AND ended_at IS NOT NULL");
const deleteImportedLink = sql<[pushId: number]>("DELETE FROM imported_links WHERE push_id = ?");
const deleteFiles = sql<[pushId: number]>("DELETE FROM files WHERE push_id = ?");
const queueBlobs = sql<[pushId: number]>(
  `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, 0, 0 FROM files WHERE push_id = ?
   ON CONFLICT (blob_key) DO NOTHING`,
);
const orphans = sqlOfFreeRows<[renewedBefore: number, limit: number], { blobKey: string }>(
  `SELECT blob_key AS blobKey FROM uploads WHERE renewed_at < ?
   AND NOT EXISTS (SELECT 1 FROM resumable_uploads WHERE resumable_uploads.blob_key = uploads.blob_key)
   ORDER BY renewed_at LIMIT ?`,
);
const takeOrphan = sql<[blobKey: string, renewedBefore: number]>(
  "DELETE FROM uploads WHERE blob_key = ? AND renewed_at < ?",
);
// A deletion that was tried and that no ticket forbids only waits for the store.
const dueBlobs = sqlOfFreeRows<[now: number, untriedBy: number, limit: number], { blobKey: string; attempts: number }>(
  `SELECT blob_key AS blobKey, attempts FROM blob_deletions
   WHERE due_at <= ? AND ${hasNoWaitingTicket} AND (due_at <= ? OR (attempts > 0 AND ${hasNoTicket}))
   ORDER BY due_at LIMIT ?`,
);
const bringForward = sql<[dueAt: number, latest: number]>("UPDATE blob_deletions SET due_at = ? WHERE due_at > ?");
const leaseBlob = sql<[leasedUntil: number, blobKey: string]>(
  "UPDATE blob_deletions SET due_at = ? WHERE blob_key = ?",
);
const dequeueBlob = sql<[blobKey: string]>("DELETE FROM blob_deletions WHERE blob_key = ?");
const deleteRemains = sql<[blobKey: string]>(
  "DELETE FROM files WHERE blob_key = ? AND push_id IN (SELECT id FROM pushes WHERE owner_id IS NULL)",
);
const postpone = sql<[dueAt: number, blobKey: string]>(
  "UPDATE blob_deletions SET due_at = ?, attempts = attempts + 1 WHERE blob_key = ?",
);
const countDeletions = sql<[], { waiting: number; failed: number }>(
  "SELECT count(*) AS waiting, count(CASE WHEN attempts > 0 THEN 1 END) AS failed FROM blob_deletions",
);
const retryDeletions = sql<[dueAt: number, now: number, limit: number]>(
  `UPDATE blob_deletions SET due_at = ? WHERE blob_key IN
     (SELECT blob_key FROM blob_deletions WHERE attempts > 0 AND due_at > ? AND ${hasNoTicket}
      ORDER BY due_at LIMIT ?)`,
);
/** Only SQLite keeps rows of destroyed keys. */
const leadingKeys = sql<[limit: number], { id: number; live: number }>({
  sqlite: "SELECT id, sealed <> zeroblob(length(sealed)) AS live FROM row_secrets ORDER BY id LIMIT ?",
  postgres: "SELECT id, 1 AS live FROM row_secrets ORDER BY id LIMIT least(?, 1)",
});
const deleteKeysTo = sql<[id: number]>("DELETE FROM row_secrets WHERE id <= ?");
const anyFile = sql<[], { id: number }>("SELECT id FROM files ORDER BY id LIMIT 1");
const anonymousBytes = sql<[], { bytes: number }>({
  sqlite: `SELECT bytes + (SELECT coalesce(sum(anonymous_bytes), 0) FROM uploads) AS bytes
    FROM totals WHERE name = 'live_anonymous'`,
  postgres: `SELECT (SELECT coalesce(sum(stored_bytes), 0) FROM pushes WHERE ended_at IS NULL AND owner_id IS NULL)
      + (SELECT coalesce(sum(anonymous_bytes), 0) FROM uploads) AS bytes`,
});

interface BlobLease {
  readonly now: number;
  readonly untriedBy: number;
  readonly leasedUntil: number;
}

export type PushUpkeep = ReturnType<typeof createUpkeep>;

function endings(db: Database) {
  let lastTombstone = noTombstone;

  return {
    ...createDepartures(db),
    /** Ends pushes that expired by `now`; their blobs may be deleted `blobsGraceMs` later. */
    endDue: (now: number, limit: number, blobsGraceMs: number): Promise<number> =>
      db.write(async (tx) =>
        countHandled(await tx.all(due, now, limit), ({ pushId, expiresAt }) => {
          const blobsDueAt = expiresAt + blobsGraceMs;
          return endPush(tx, { pushId, reason: "time", endedAt: expiresAt, blobsDueAt, audit: null });
        }),
      ),
    /**
     * Removes payloads that stayed when a claim ended their pushes. Looks at each tombstone once, and at all of them after a start
     * or if the clock was set back.
     * @param endedBy later than any claim that may still be uncommitted. @returns how many tombstones were looked at.
     */
    async removeEndedPayloads(endedBy: number, limit: number): Promise<number> {
      if (!capabilitiesOf[db.engine].payloadsStay) return 0;
      if (endedBy < lastTombstone.endedAt) lastTombstone = noTombstone;
      const { endedAt, id } = lastTombstone;
      const found = await db.read.all(tombstonesAfter, endedAt, id, endedBy, limit);
      if (found.length === 0) return 0;
      // Pushes of neighbouring ids share pages.
      const ids = found.map((tombstone) => tombstone.id).sort((a, b) => a - b);
      await db.write(async (tx) => {
        for (const pushId of ids) await tx.run(deletePayload, pushId);
      });
      lastTombstone = found.at(-1) ?? lastTombstone;
      return found.length;
    },
    removeUnfinishedUploads: (now: number, limit: number): Promise<number> => removeUnfinishedUploads(db, now, limit),
    hasFiles: async (): Promise<boolean> => (await db.read.one(anyFile)) !== undefined,
    removeTombstones: (endedBefore: number, limit: number): Promise<number> =>
      db.write(async (tx) =>
        countHandled(await tx.all(tombstones, endedBefore, limit), ({ id }) => removePush(tx, id)),
      ),
    purgeOwned: (endedBefore: number, limit: number): Promise<number> =>
      db.write(async (tx) => countHandled(await tx.all(purgeable, endedBefore, limit), ({ id }) => removePush(tx, id))),
    /** Removes one ended push with its trail. @returns false when it is unknown or has not ended. @param together is then not called. */
    removeEnded: (pushId: number, together: InTransaction): Promise<boolean> =>
      db.write(async (tx) => {
        const isRemoved = await removePush(tx, pushId);
        if (isRemoved) await together(tx);
        return isRemoved;
      }),
    abandonOrphans: (renewedBefore: number, limit: number): Promise<number> =>
      db.write(async (tx) =>
        countHandled(await tx.all(orphans, renewedBefore, limit), async ({ blobKey }) => {
          const isTaken = (await tx.run(takeOrphan, blobKey, renewedBefore)) > 0;
          if (isTaken) await tx.run(queueBlob, blobKey);
          return isTaken;
        }),
      ),
  };
}

function blobDeletionQueue(db: Database) {
  return {
    /**
     * Leases blobs due by `now`, those that were never tried by `untriedBy`: no other process gets them until `leasedUntil`.
     * After a crash they become due again then.
     */
    leaseBlobDeletions: ({ now, untriedBy, leasedUntil }: BlobLease, limit: number) =>
      db.write(async (tx) => {
        const leased = await tx.all(dueBlobs, now, untriedBy, limit);
        for (const { blobKey } of leased) await tx.run(leaseBlob, leasedUntil, blobKey);
        return leased;
      }),
    /** Deletions due after `latest` were queued before the clock was set back. @returns how many are due at `dueAt` now. */
    bringBlobsForward: (dueAt: number, latest: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(bringForward, dueAt, latest),
    blobDeleted: (blobKey: string): Promise<void> =>
      db.write(async (tx) => {
        await tx.run(deleteRemains, blobKey);
        await tx.run(dequeueBlob, blobKey);
      }),
    async postponeBlobDeletion(blobKey: string, dueAt: number): Promise<void> {
      await db.autocommit({ retry: "whenNotExecuted" }).run(postpone, dueAt, blobKey);
    },
    /** `waiting`: all; `failed`: those of them that were tried before. */
    deletionCounts: async () => (await db.read.one(countDeletions)) ?? { waiting: 0, failed: 0 },
    /**
     * Failed deletions that are put off become due, except of files that somebody may still download.
     * @returns how many, at most `limit`.
     */
    retryDeletions: (now: number, limit: number, together: InTransaction): Promise<number> =>
      db.write(async (tx) => {
        const count = await tx.run(retryDeletions, now, now, limit);
        if (count > 0) await together(tx);
        return count;
      }),
    /** Deletes the leading run of overwritten key rows, except the margin that shields their live neighbours. */
    async trimRowSecrets(limit: number): Promise<number> {
      const rows = await db.read.all(leadingKeys, limit + shieldRows);
      const firstLive = rows.findIndex((row) => row.live === 1);
      const overwritten = firstLive < 0 ? rows.length : firstLive;
      const last = rows[overwritten - shieldRows - 1];
      return last === undefined ? 0 : await db.autocommit({ retry: "whenNotExecuted" }).run(deleteKeysTo, last.id);
    },
    /** Bytes of payloads and files in live anonymous pushes, and of anonymous files that are being uploaded. */
    anonymousBytes: async (): Promise<number> => (await db.read.one(anonymousBytes))?.bytes ?? 0,
  };
}

/**
 * The sweeper's queries, which all processes share. Each call handles at most `limit` rows, returns how many, and skips rows
 * that another process is working on.
 */
export function createUpkeep(db: Database) {
  return { ...endings(db), ...blobDeletionQueue(db) };
}

/** One after the other. @param handle whether it has changed anything. @returns how often it has. */
async function countHandled<Row>(rows: readonly Row[], handle: (row: Row) => Promise<boolean>): Promise<number> {
  let handled = 0;
  for (const row of rows) if (await handle(row)) handled += 1;
  return handled;
}

/** Runs in a transaction. @returns false when the push is unknown or has not ended. */
export async function removePush(tx: Transaction, id: number): Promise<boolean> {
  if ((await tx.run(deletePush, id)) === 0) return false;
  await destroyClaimKeys(tx, id);
  await destroyTickets(tx, id);
  await tx.run(deletePayload, id);
  await tx.run(deleteImportedLink, id);
  await tx.run(deleteAuditEntries, id);
  await tx.run(deleteLinkDeliveries, id);
  await tx.run(deleteViewNotifications, id);
  await tx.run(queueBlobs, id);
  await tx.run(deleteFiles, id);
  return true;
}

const owned = sqlOfFreeRows<[ownerId: number, limit: number], { id: number }>(
  "SELECT id FROM pushes WHERE owner_id = ? ORDER BY created_at, id LIMIT ?",
);
const ownedLive = sqlOfFreeRows<[ownerId: number, now: number, limit: number], { id: number }>(
  "SELECT id FROM pushes WHERE owner_id = ? AND ended_at IS NULL AND expires_at > ? ORDER BY created_at, id LIMIT ?",
);
/** Sorted, so that it is read by the index over the ends of an owner's pushes. */
const countLive = sql<[ownerId: number, now: number, countedMax: number], { live: number }>(
  `SELECT count(*) AS live FROM
     (SELECT 1 FROM pushes WHERE owner_id = ? AND coalesce(ended_at, expires_at) > ?
      ORDER BY coalesce(ended_at, expires_at), id LIMIT ?) AS found`,
);
const disown = sql<[pushId: number]>(
  `UPDATE pushes SET owner_id = NULL, owner_check = NULL, token_sealed = NULL, name_sealed = NULL, note_sealed = NULL, end_reason = ${endReasons.owner}
   WHERE id = ?`,
);
// The rows of the other files are deleted with their blobs: the queue needs them to find the blobs.
const deleteGoneFiles = sql<[pushId: number]>(
  `DELETE FROM files WHERE push_id = ?
   AND NOT EXISTS (SELECT 1 FROM blob_deletions WHERE blob_deletions.blob_key = files.blob_key)`,
);
const deleteCreationKeys = sql<[ownerId: number]>("DELETE FROM creation_keys WHERE user_id = ?");
const departed = sql<[afterId: number, limit: number], { ownerId: number }>(
  "SELECT user_id AS ownerId FROM deleted_users WHERE user_id > ? ORDER BY user_id LIMIT ?",
);
const forget = sql<[departedBefore: number]>(
  `DELETE FROM deleted_users WHERE deleted_at < ?
   AND NOT EXISTS (SELECT 1 FROM pushes WHERE pushes.owner_id = deleted_users.user_id)`,
);

/**
 * A push whose owner was deleted becomes a tombstone, as an ended anonymous push is. Its end reason becomes "owner", even
 * if a limit ended it before.
 */
export function createDepartures(db: Database) {
  async function release(tx: Transaction, pushId: number, now: number): Promise<void> {
    await endPush(tx, { pushId, reason: "time", endedAt: now, blobsDueAt: 0, audit: null });
    await endPush(tx, { pushId, reason: "owner", endedAt: now, blobsDueAt: 0, audit: null });
    await tx.run(deleteGoneFiles, pushId);
    await tx.run(deleteAuditEntries, pushId);
    await tx.run(deleteLinkDeliveries, pushId);
    await tx.run(deleteViewNotifications, pushId);
    await tx.run(disown, pushId);
  }

  return {
    /** Ends live pushes and deletes all data of the owner. @returns how many pushes, at most `limit`. */
    releaseOwned: (ownerId: number, now: number, limit: number): Promise<number> =>
      db.write(async (tx) => {
        const rows = await tx.all(owned, ownerId, limit);
        for (const { id } of rows) await release(tx, id, now);
        await tx.run(deleteLinkDeliveryDay, ownerId);
        await destroyLinkSecret(tx, ownerId);
        await tx.run(deleteCreationKeys, ownerId);
        return rows.length;
      }),
    /** @returns at most `countedMax`. */
    countLive: async (ownerId: number, now: number, countedMax: number): Promise<number> =>
      (await db.read.one(countLive, ownerId, now, countedMax))?.live ?? 0,
    /** Ends live pushes of the owner for an administrator. @returns how many were found, at most `limit`. */
    endOwned: (ownerId: number, now: number, limit: number, audit: AuditRecord): Promise<number> =>
      db.write(async (tx) => {
        const rows = await tx.all(ownedLive, ownerId, now, limit);
        const end = { reason: "administrator", endedAt: now, blobsDueAt: 0, audit } as const;
        for (const { id } of rows) await endPush(tx, { pushId: id, ...end });
        return rows.length;
      }),
    /** Deleted accounts, ordered by id. */
    departedOwners: async (afterId: number, limit: number): Promise<readonly number[]> =>
      (await db.read.all(departed, afterId, limit)).map(({ ownerId }) => ownerId),
    /** Forgets accounts that were deleted before then and have no pushes left. */
    forgetDeparted: (departedBefore: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(forget, departedBefore),
  };
}
