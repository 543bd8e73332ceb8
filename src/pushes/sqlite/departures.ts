import type { Database } from "../../db/sqlite.ts";
import type { PushDepartures } from "../store.ts";
import { endReasons } from "./rows.ts";
import type { Steps } from "./writing.ts";

/**
 * A push whose owner is gone becomes what an ended anonymous one is: a tombstone. Its end is the owner's, also where a
 * limit came first: so download tickets are void.
 */
export function prepareDepartures({ reader, writer, write }: Database, steps: Steps): PushDepartures {
  const owned = writer.prepare<[number, number], { id: number }>("SELECT id FROM pushes WHERE owner_id = ? LIMIT ?");
  const disown = writer.prepare<[number, number]>(
    `UPDATE pushes SET owner_id = NULL, token_sealed = NULL, name_sealed = NULL, note_sealed = NULL, end_reason = ?
     WHERE id = ?`,
  );
  const deleteAudit = writer.prepare<[number]>("DELETE FROM audit_entries WHERE push_id = ?");
  const hasten = writer.prepare<[number]>(
    "UPDATE blob_deletions SET due_at = 0 WHERE blob_key IN (SELECT blob_key FROM files WHERE push_id = ?)",
  );
  // The others' rows go with their blobs, which the queue finds by them.
  const deleteGoneFiles = writer.prepare<[number]>(
    "DELETE FROM files WHERE push_id = ? AND blob_key NOT IN (SELECT blob_key FROM blob_deletions)",
  );
  const departed = reader.prepare<[number, number], { ownerId: number }>(
    "SELECT user_id AS ownerId FROM departed_owners WHERE user_id > ? ORDER BY user_id LIMIT ?",
  );
  const forget = writer.prepare<[number]>(
    `DELETE FROM departed_owners WHERE departed_at < ?
     AND NOT EXISTS (SELECT 1 FROM pushes WHERE pushes.owner_id = departed_owners.user_id)`,
  );
  const ownerEnd = endReasons.indexOf("owner");

  function release(pushId: number, now: number): void {
    steps.end({ pushId, reason: "time", endedAt: now, blobsDueAt: 0, audit: null });
    steps.end({ pushId, reason: "owner", endedAt: now, blobsDueAt: 0, audit: null });
    hasten.run(pushId);
    deleteGoneFiles.run(pushId);
    deleteAudit.run(pushId);
    disown.run(ownerEnd, pushId);
  }

  return {
    releaseOwned: (ownerId, now, limit) =>
      write(() => {
        const rows = owned.all(ownerId, limit);
        for (const { id } of rows) release(id, now);
        return rows.length;
      }),
    departedOwners: async (afterId, limit) => departed.all(afterId, limit).map(({ ownerId }) => ownerId),
    forgetDeparted: (departedBefore) => write(() => forget.run(departedBefore).changes),
  };
}
