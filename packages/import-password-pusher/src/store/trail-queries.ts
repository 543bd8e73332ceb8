import { firstOf, from, inBatches } from "./ask.ts";
import type { Cell, SourceRecord } from "./source-rows.ts";
import type { SourceTables } from "./source-tables.ts";

/** What happened to pushes. */
export interface TrailQueries {
  /**
   * Of the audit entries: `push_id`, `kind`, `entries`, `first_at`. Of all kinds: asked for a few of them, SQLite walks
   * the index of kinds, which is the whole table.
   */
  entryCounts(pushIds: readonly number[]): Promise<readonly SourceRecord[]>;
  /** Of the mails that audit entries tell of: `push_id`, `entries`. */
  notificationCounts(pushIds: readonly number[]): Promise<readonly SourceRecord[]>;
  /** When the counted view with this number happened, the first being 1. */
  countedViewAt(pushId: number, number: number): Promise<Cell>;
  auditEntries(pushId: number): Promise<readonly SourceRecord[]>;
  notifications(auditIds: readonly number[]): Promise<readonly SourceRecord[]>;
}

export function createTrailQueries(tables: SourceTables): TrailQueries {
  const { rows, name, selection } = tables;
  const { asText } = rows.dialect;
  const entries = name("audit_logs");
  return {
    entryCounts: (ids) =>
      inBatches(
        tables,
        ids,
        (list) =>
          `SELECT ${asText("push_id")} AS push_id, ${asText("kind")} AS kind, ${asText("COUNT(*)")} AS entries,
             ${asText("MIN(created_at)")} AS first_at
           FROM ${entries} WHERE push_id IN ${list} GROUP BY push_id, kind`,
      ),
    async notificationCounts(ids) {
      if (!tables.has("notify_by_emails")) return [];
      const told = `${from(tables, "audit_logs", "l")} JOIN ${from(tables, "notify_by_emails", "n")} ON n.audit_log_id = l.id`;
      return await inBatches(
        tables,
        ids,
        (list) =>
          `SELECT ${asText("l.push_id")} AS push_id, ${asText("COUNT(*)")} AS entries
           FROM ${told} WHERE l.push_id IN ${list} GROUP BY l.push_id`,
      );
    },
    async countedViewAt(pushId, number) {
      const { at = null } = await firstOf(
        tables,
        `SELECT ${asText("created_at")} AS at FROM ${entries} WHERE push_id = ? AND kind IN (1, 2)
         ORDER BY ${entries}.created_at, id LIMIT 1 OFFSET ${number - 1}`,
        [pushId],
      );
      return at;
    },
    auditEntries: (pushId) =>
      rows.all(`${selection("audit_logs")} WHERE push_id = ? ORDER BY ${entries}.created_at, ${entries}.id`, [pushId]),
    async notifications(ids) {
      if (!tables.has("notify_by_emails")) return [];
      return await inBatches(tables, ids, (list) => `${selection("notify_by_emails")} WHERE audit_log_id IN ${list}`);
    },
  };
}
