import type { Database } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";
import type { ViewNotice, ViewNotices } from "../notice-store.ts";
import type { PushLists } from "../store.ts";

interface RawNotice extends Omit<ViewNotice, "row"> {
  readonly pushId: number;
}

export const noteView = sql<[pushId: number, sequence: number]>(
  "INSERT INTO view_notices (push_id, sequence) VALUES (?, ?)",
);
const oldest = sql<[limit: number], RawNotice>(
  `SELECT view_notices.push_id AS pushId, view_notices.sequence, audit_entries.created_at AS viewedAt,
     audit_entries.address, audit_entries.user_agent AS userAgent
   FROM view_notices JOIN audit_entries ON audit_entries.push_id = view_notices.push_id
     AND audit_entries.sequence = view_notices.sequence
   ORDER BY view_notices.push_id, view_notices.sequence LIMIT ?`,
);
const takeNotice = sql<[pushId: number, sequence: number]>(
  "DELETE FROM view_notices WHERE push_id = ? AND sequence = ?",
);
export const deleteViewNotices = sql<[pushId: number]>("DELETE FROM view_notices WHERE push_id = ?");

export function createViewNotices(db: Database, lists: Pick<PushLists, "byIds">): ViewNotices {
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
      await db.write(async (unit) => {
        if ((await unit.run(takeNotice, row.id, sequence)) === 1) await put(unit);
      });
    },
  };
}
