import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { endReasons } from "../push.ts";
import type { PushDepartures } from "../store.ts";
import { deleteLinkDeliveries, deleteLinkDeliveryDay } from "./link-deliveries.ts";
import { deleteAuditEntries, sqlOfFreeRows } from "./statements.ts";
import type { Steps } from "./steps.ts";
import { deleteViewNotifications } from "./view-notifications.ts";

const owned = sqlOfFreeRows<[ownerId: number, limit: number], { id: number }>(
  "SELECT id FROM pushes WHERE owner_id = ? ORDER BY created_at, id LIMIT ?",
);
const disown = sql<[pushId: number]>(
  `UPDATE pushes SET owner_id = NULL, token_sealed = NULL, name_sealed = NULL, note_sealed = NULL, end_reason = ${endReasons.owner}
   WHERE id = ?`,
);
const hasten = sql<[pushId: number]>(
  "UPDATE blob_deletions SET due_at = 0 WHERE blob_key IN (SELECT blob_key FROM files WHERE push_id = ?)",
);
// The others' rows go with their blobs, which the queue finds by them.
const deleteGoneFiles = sql<[pushId: number]>(
  `DELETE FROM files WHERE push_id = ?
   AND NOT EXISTS (SELECT 1 FROM blob_deletions WHERE blob_deletions.blob_key = files.blob_key)`,
);
const departed = sql<[afterId: number, limit: number], { ownerId: number }>(
  "SELECT user_id AS ownerId FROM deleted_users WHERE user_id > ? ORDER BY user_id LIMIT ?",
);
const forget = sql<[departedBefore: number]>(
  `DELETE FROM deleted_users WHERE deleted_at < ?
   AND NOT EXISTS (SELECT 1 FROM pushes WHERE pushes.owner_id = deleted_users.user_id)`,
);

/**
 * A push whose owner is gone becomes what an ended anonymous one is: a tombstone. Its end is the owner's, also where a
 * limit came first: so download tickets are void.
 */
export function createDepartures(db: Database, steps: Pick<Steps, "end">): PushDepartures {
  async function release(tx: Transaction, pushId: number, now: number): Promise<void> {
    await steps.end(tx, { pushId, reason: "time", endedAt: now, blobsDueAt: 0, audit: null });
    await steps.end(tx, { pushId, reason: "owner", endedAt: now, blobsDueAt: 0, audit: null });
    await tx.run(hasten, pushId);
    await tx.run(deleteGoneFiles, pushId);
    await tx.run(deleteAuditEntries, pushId);
    await tx.run(deleteLinkDeliveries, pushId);
    await tx.run(deleteViewNotifications, pushId);
    await tx.run(disown, pushId);
  }

  return {
    releaseOwned: (ownerId, now, limit) =>
      db.write(async (tx) => {
        const rows = await tx.all(owned, ownerId, limit);
        for (const { id } of rows) await release(tx, id, now);
        await tx.run(deleteLinkDeliveryDay, ownerId);
        return rows.length;
      }),
    departedOwners: async (afterId, limit) =>
      (await db.read.all(departed, afterId, limit)).map(({ ownerId }) => ownerId),
    forgetDeparted: (departedBefore) => db.autocommit({ retry: "whenNotExecuted" }).run(forget, departedBefore),
  };
}
