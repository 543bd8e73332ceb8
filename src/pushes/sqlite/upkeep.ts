import type { Database } from "../../db/sqlite.ts";
import type { PushUpkeep } from "../store.ts";
import { prepareDepartures } from "./departures.ts";
import type { Steps } from "./writing.ts";

/**
 * A deletion may merge a page with its neighbours and so copy their rows. A page holds about 38 key rows and a merge
 * takes in three pages: with this many overwritten rows between, no living key is ever copied.
 */
const shieldRows = 256;

export function prepareUpkeep(db: Database, steps: Steps): PushUpkeep {
  const { reader, writer } = db;
  const due = reader.prepare<[number, number], { pushId: number; expiresAt: number }>(
    `SELECT id AS pushId, expires_at AS expiresAt FROM pushes
     WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  );
  const tombstones = reader.prepare<[number, number], { id: number }>(
    "SELECT id FROM pushes WHERE ended_at IS NOT NULL AND ended_at < ? AND owner_id IS NULL ORDER BY ended_at LIMIT ?",
  );
  const purgeable = reader.prepare<[number, number], { id: number }>(
    "SELECT id FROM pushes WHERE ended_at IS NOT NULL AND ended_at < ? AND owner_id IS NOT NULL ORDER BY ended_at LIMIT ?",
  );
  const deletePush = writer.prepare("DELETE FROM pushes WHERE id = ? AND ended_at IS NOT NULL");
  const deleteAudit = writer.prepare("DELETE FROM audit_entries WHERE push_id = ?");
  const deleteFiles = writer.prepare("DELETE FROM files WHERE push_id = ?");
  const queueBlobs = writer.prepare(
    `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, 0, 0 FROM files WHERE push_id = ?
     ON CONFLICT (blob_key) DO NOTHING`,
  );
  const orphans = reader.prepare<[number, number], { blobKey: string }>(
    "SELECT blob_key AS blobKey FROM uploads WHERE renewed_at < ? ORDER BY renewed_at LIMIT ?",
  );
  // The guard is repeated inside the write: an upload renewed since it was read is not an orphan.
  const takeOrphan = writer.prepare("DELETE FROM uploads WHERE blob_key = ? AND renewed_at < ?");
  const queueBlob = writer.prepare(
    "INSERT INTO blob_deletions (blob_key, due_at, attempts) VALUES (?, 0, 0) ON CONFLICT (blob_key) DO NOTHING",
  );
  const dueBlobs = reader.prepare<[number, number], { blobKey: string; attempts: number }>(
    "SELECT blob_key AS blobKey, attempts FROM blob_deletions WHERE due_at <= ? ORDER BY due_at LIMIT ?",
  );
  const dequeueBlob = writer.prepare("DELETE FROM blob_deletions WHERE blob_key = ?");
  const deleteRemains = writer.prepare(
    "DELETE FROM files WHERE blob_key = ? AND push_id IN (SELECT id FROM pushes WHERE owner_id IS NULL)",
  );
  const postpone = writer.prepare("UPDATE blob_deletions SET due_at = ?, attempts = attempts + 1 WHERE blob_key = ?");
  const leadingKeys = reader.prepare<[number], { id: number; live: number }>(
    "SELECT id, sealed <> zeroblob(length(sealed)) AS live FROM data_keys ORDER BY id LIMIT ?",
  );
  const deleteKeysTo = writer.prepare("DELETE FROM data_keys WHERE id <= ?");
  const anonymousBytes = reader.prepare<[], { bytes: number }>(
    `SELECT bytes + (SELECT coalesce(sum(anonymous_bytes), 0) FROM uploads) AS bytes
     FROM totals WHERE name = 'live_anonymous'`,
  );

  async function removePushes(rows: readonly { id: number }[]): Promise<number> {
    if (rows.length === 0) return 0;
    return await db.write(() => {
      let removed = 0;
      for (const { id } of rows) {
        if (deletePush.run(id).changes === 0) continue;
        deleteAudit.run(id);
        queueBlobs.run(id);
        deleteFiles.run(id);
        removed += 1;
      }
      return removed;
    });
  }

  return {
    ...prepareDepartures(db, steps),
    dueForEnd: async (now, limit) => due.all(now, limit),
    endDue: (pushes, blobsGraceMs) =>
      db.write(() => {
        let ended = 0;
        for (const { pushId, expiresAt } of pushes) {
          const blobsDueAt = expiresAt + blobsGraceMs;
          if (steps.end({ pushId, reason: "time", endedAt: expiresAt, blobsDueAt, audit: null })) ended += 1;
        }
        return ended;
      }),
    removeTombstones: async (endedBefore, limit) => removePushes(tombstones.all(endedBefore, limit)),
    purgeOwned: async (endedBefore, limit) => removePushes(purgeable.all(endedBefore, limit)),
    async abandonOrphans(renewedBefore, limit) {
      const found = orphans.all(renewedBefore, limit);
      if (found.length === 0) return 0;
      return await db.write(() => {
        let taken = 0;
        for (const { blobKey } of found) {
          if (takeOrphan.run(blobKey, renewedBefore).changes === 0) continue;
          queueBlob.run(blobKey);
          taken += 1;
        }
        return taken;
      });
    },
    dueBlobDeletions: async (now, limit) => dueBlobs.all(now, limit),
    blobDeleted: (blobKey) =>
      db.write(() => {
        deleteRemains.run(blobKey);
        dequeueBlob.run(blobKey);
      }),
    postponeBlobDeletion: (blobKey, dueAt) =>
      db.write(() => {
        postpone.run(dueAt, blobKey);
      }),
    async trimDataKeys(limit) {
      const rows = leadingKeys.all(limit + shieldRows);
      const firstLive = rows.findIndex((row) => row.live === 1);
      const overwritten = firstLive < 0 ? rows.length : firstLive;
      const last = rows[overwritten - shieldRows - 1];
      if (last === undefined) return 0;
      return await db.write(() => deleteKeysTo.run(last.id).changes);
    },
    anonymousBytes: async () => anonymousBytes.get()?.bytes ?? 0,
  };
}
