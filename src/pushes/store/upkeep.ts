import type { Database, Unit } from "../../db/database.ts";
import { type Statement, sql } from "../../db/statement.ts";
import type { PushUpkeep } from "../store.ts";
import { createDepartures } from "./departures.ts";
import { deleteDispatches } from "./dispatches.ts";
import { deleteAuditEntries, queueBlob, sqlOfFreeRows } from "./statements.ts";
import type { Steps } from "./steps.ts";
import { deleteViewNotices } from "./view-notices.ts";

/**
 * A deletion may merge a page with its neighbours and so copy their rows. A page holds about 38 key rows and a merge
 * takes in three pages: with this many overwritten rows between, no living key is ever copied.
 */
const shieldRows = 256;

const due = sqlOfFreeRows<[now: number, limit: number], { pushId: number; expiresAt: number }>(
  `SELECT id AS pushId, expires_at AS expiresAt FROM pushes
   WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
);
type Removable = Statement<[endedBefore: number, limit: number], { id: number }>;
const tombstones: Removable = sqlOfFreeRows(
  "SELECT id FROM pushes WHERE ended_at IS NOT NULL AND ended_at < ? AND owner_id IS NULL ORDER BY ended_at LIMIT ?",
);
const purgeable: Removable = sqlOfFreeRows(
  "SELECT id FROM pushes WHERE ended_at IS NOT NULL AND ended_at < ? AND owner_id IS NOT NULL ORDER BY ended_at LIMIT ?",
);
const deletePush = sql<[pushId: number]>("DELETE FROM pushes WHERE id = ? AND ended_at IS NOT NULL");
const deleteFiles = sql<[pushId: number]>("DELETE FROM files WHERE push_id = ?");
const queueBlobs = sql<[pushId: number]>(
  `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, 0, 0 FROM files WHERE push_id = ?
   ON CONFLICT (blob_key) DO NOTHING`,
);
const orphans = sqlOfFreeRows<[renewedBefore: number, limit: number], { blobKey: string }>(
  "SELECT blob_key AS blobKey FROM uploads WHERE renewed_at < ? ORDER BY renewed_at LIMIT ?",
);
const takeOrphan = sql<[blobKey: string, renewedBefore: number]>(
  "DELETE FROM uploads WHERE blob_key = ? AND renewed_at < ?",
);
const dueBlobs = sqlOfFreeRows<[now: number, limit: number], { blobKey: string; attempts: number }>(
  "SELECT blob_key AS blobKey, attempts FROM blob_deletions WHERE due_at <= ? ORDER BY due_at LIMIT ?",
);
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
/** Only SQLite keeps rows of destroyed keys. */
const leadingKeys = sql<[limit: number], { id: number; live: number }>({
  sqlite: "SELECT id, sealed <> zeroblob(length(sealed)) AS live FROM data_keys ORDER BY id LIMIT ?",
  postgres: "SELECT id, 1 AS live FROM data_keys ORDER BY id LIMIT least(?, 1)",
});
const deleteKeysTo = sql<[id: number]>("DELETE FROM data_keys WHERE id <= ?");
const anonymousBytes = sql<[], { bytes: number }>({
  sqlite: `SELECT bytes + (SELECT coalesce(sum(anonymous_bytes), 0) FROM uploads) AS bytes
    FROM totals WHERE name = 'live_anonymous'`,
  postgres: `SELECT (SELECT coalesce(sum(stored_bytes), 0) FROM pushes WHERE ended_at IS NULL AND owner_id IS NULL)
      + (SELECT coalesce(sum(anonymous_bytes), 0) FROM uploads) AS bytes`,
});

export function createUpkeep(db: Database, steps: Pick<Steps, "end">): PushUpkeep {
  return {
    ...createDepartures(db, steps),
    endDue: (now, limit, blobsGraceMs) =>
      db.write(async (unit) => {
        let ended = 0;
        for (const { pushId, expiresAt } of await unit.all(due, now, limit)) {
          const blobsDueAt = expiresAt + blobsGraceMs;
          const request = { pushId, reason: "time", endedAt: expiresAt, blobsDueAt, audit: null } as const;
          if (await steps.end(unit, request)) ended += 1;
        }
        return ended;
      }),
    removeTombstones: (endedBefore, limit) => db.write((unit) => removePushes(unit, tombstones, endedBefore, limit)),
    purgeOwned: (endedBefore, limit) => db.write((unit) => removePushes(unit, purgeable, endedBefore, limit)),
    abandonOrphans: (renewedBefore, limit) =>
      db.write(async (unit) => {
        let taken = 0;
        for (const { blobKey } of await unit.all(orphans, renewedBefore, limit)) {
          if ((await unit.run(takeOrphan, blobKey, renewedBefore)) === 0) continue;
          await unit.run(queueBlob, blobKey);
          taken += 1;
        }
        return taken;
      }),
    leaseBlobDeletions: (now, leasedUntil, limit) =>
      db.write(async (unit) => {
        const leased = await unit.all(dueBlobs, now, limit);
        for (const { blobKey } of leased) await unit.run(leaseBlob, leasedUntil, blobKey);
        return leased;
      }),
    blobDeleted: (blobKey) =>
      db.write(async (unit) => {
        await unit.run(deleteRemains, blobKey);
        await unit.run(dequeueBlob, blobKey);
      }),
    async postponeBlobDeletion(blobKey, dueAt) {
      await db.autocommit.run(postpone, dueAt, blobKey);
    },
    async trimDataKeys(limit) {
      const rows = await db.read.all(leadingKeys, limit + shieldRows);
      const firstLive = rows.findIndex((row) => row.live === 1);
      const overwritten = firstLive < 0 ? rows.length : firstLive;
      const last = rows[overwritten - shieldRows - 1];
      return last === undefined ? 0 : await db.autocommit.run(deleteKeysTo, last.id);
    },
    anonymousBytes: async () => (await db.read.one(anonymousBytes))?.bytes ?? 0,
  };
}

async function removePushes(unit: Unit, removable: Removable, endedBefore: number, limit: number): Promise<number> {
  let removed = 0;
  for (const { id } of await unit.all(removable, endedBefore, limit)) {
    if ((await unit.run(deletePush, id)) === 0) continue;
    await unit.run(deleteAuditEntries, id);
    await unit.run(deleteDispatches, id);
    await unit.run(deleteViewNotices, id);
    await unit.run(queueBlobs, id);
    await unit.run(deleteFiles, id);
    removed += 1;
  }
  return removed;
}
