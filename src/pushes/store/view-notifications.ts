import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { ViewNotification, ViewNotifications } from "../notification-store.ts";
import type { PushLists } from "../store.ts";

interface RawNotice extends Omit<ViewNotification, "row"> {
  readonly pushId: number;
}

export const noteView = sql<[pushId: number, sequence: number]>(
  "INSERT INTO view_notifications (push_id, sequence) VALUES (?, ?)",
);
const oldest = sql<[limit: number], RawNotice>(
  `SELECT view_notifications.push_id AS pushId, view_notifications.sequence, audit_entries.created_at AS viewedAt,
     audit_entries.address, audit_entries.user_agent AS userAgent
   FROM view_notifications JOIN audit_entries ON audit_entries.push_id = view_notifications.push_id
     AND audit_entries.sequence = view_notifications.sequence
   ORDER BY view_notifications.push_id, view_notifications.sequence LIMIT ?`,
);
const takeNotice = sql<[pushId: number, sequence: number]>(
  "DELETE FROM view_notifications WHERE push_id = ? AND sequence = ?",
);
export const deleteViewNotifications = sql<[pushId: number]>("DELETE FROM view_notifications WHERE push_id = ?");

export function createViewNotifications(db: Database, lists: Pick<PushLists, "byIds">): ViewNotifications {
  return {
    async waiting(limit) {
      const found = await db.read.all(oldest, limit);
      if (found.length === 0) return [];
      const rows = new Map(
        (await lists.byIds([...new Set(found.map(({ pushId }) => pushId))])).map((row) => [row.id, row]),
      );
      return found.flatMap(({ pushId, ...notice }) => {
        const row = rows.get(pushId);
        return row === undefined ? [] : [{ ...notice, row }];
      });
    },
    async take({ sequence, row }, put) {
      await db.write(async (tx) => {
        if ((await tx.run(takeNotice, row.id, sequence)) === 1) await put(tx);
      });
    },
  };
}
