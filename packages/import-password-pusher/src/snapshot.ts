import { textOf, wholeNumberOf } from "./cells.ts";
import { digestIdentities } from "./read-identities.ts";
import type { SourceChange, SourceSnapshot, TableState } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import { type SourceRecord, unlessDamaged } from "./store/source-rows.ts";

/** The tables of which rows are imported. */
const snapshotTables = [
  "users",
  "pushes",
  "audit_logs",
  "notify_by_emails",
  "active_storage_attachments",
  "active_storage_blobs",
  "site_settings",
] as const;
type SnapshotTable = (typeof snapshotTables)[number];

export async function takeSnapshot(queries: SourceQueries): Promise<SourceSnapshot> {
  const tables: Record<string, TableState> = {};
  for (const table of snapshotTables) tables[table] = await stateOf(queries, table);
  return { tables, identities: await digestIdentities(queries) };
}

/** Every change of a row changes one of these: new rows have greater ids, and removed ones are not counted. */
async function stateOf(queries: SourceQueries, table: SnapshotTable): Promise<TableState> {
  if (!queries.has(table)) return { rows: 0, greatestId: null, newest: null };
  const {
    entries,
    greatest_id: greatestId,
    newest,
  } = await unlessDamaged<SourceRecord>(queries.tableState(table), () => ({}));
  return { rows: wholeNumberOf(entries) ?? 0, greatestId: textOf(greatestId), newest: textOf(newest) };
}

export async function changesSince(
  queries: SourceQueries,
  before: SourceSnapshot["tables"],
): Promise<readonly SourceChange[]> {
  const changes: SourceChange[] = [];
  for (const table of snapshotTables) {
    const [then, now] = [before[table], await stateOf(queries, table)];
    if (then?.rows === now.rows && then.greatestId === now.greatestId && then.newest === now.newest) continue;
    changes.push({ table, rows: await countChanged(queries, table, then, now) });
  }
  return changes;
}

async function countChanged(
  queries: SourceQueries,
  table: SnapshotTable,
  then: TableState | undefined,
  now: TableState,
): Promise<number> {
  if (then === undefined || then.greatestId === null || now.greatestId === null) return now.rows;
  const { present, changed } = await queries.countUpTo(table, then.greatestId, then.newest);
  return now.rows - present + changed + Math.max(then.rows - present, 0);
}
