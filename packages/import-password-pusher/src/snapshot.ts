import { createHash } from "node:crypto";
import { beforeFirstId, textOf, timeOf, wholeNumberOf } from "./cells.ts";
import { pageRows, pagesAfter } from "./read-in-batches.ts";
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

/** What identifies each user and push, and the times of their last changes. Nothing is decrypted. */
const identities = [
  ["users", ["created_at", "updated_at", "email", "authentication_token", "encrypted_password"]],
  ["pushes", ["created_at", "updated_at", "url_token"]],
] as const;

export async function takeSnapshot(queries: SourceQueries): Promise<SourceSnapshot> {
  const tables: Record<string, TableState> = {};
  for (const table of snapshotTables) tables[table] = await stateOf(queries, table);
  const digest = createHash("sha256");
  for (const [table, columns] of identities) {
    for await (const record of readPages(queries, table, columns)) digest.update(`${JSON.stringify(record)}\n`);
  }
  return { tables, identities: digest.digest("hex") };
}

/** Every change of a row changes one of these: new rows have greater ids, and removed ones are not counted. */
async function stateOf(queries: SourceQueries, table: SnapshotTable): Promise<TableState> {
  if (!queries.has(table)) return { rows: 0, greatestId: null, newest: null };
  const state = await unlessDamaged<SourceRecord>(queries.tableState(table), () => ({}));
  return {
    rows: wholeNumberOf(state.entries) ?? 0,
    greatestId: textOf(state.greatest_id),
    newest: textOf(state.newest),
  };
}

export async function changesSince(
  queries: SourceQueries,
  before: SourceSnapshot["tables"],
): Promise<readonly SourceChange[]> {
  const changes: SourceChange[] = [];
  for (const table of snapshotTables) {
    const [then, now] = [before[table], await stateOf(queries, table)];
    if (then?.rows === now.rows && then.greatestId === now.greatestId && then.newest === now.newest) continue;
    let rows = now.rows;
    if (then !== undefined && then.greatestId !== null && now.greatestId !== null) {
      const { present, changed } = await queries.countUpTo(table, then.greatestId, then.newest);
      rows += changed - present + Math.max(then.rows - present, 0);
    }
    changes.push({ table, rows });
  }
  return changes;
}

/** An account that is made without an email is confirmed at its creation. */
const creationMs = 1_000;

/** When the source first emailed a new user to confirm the address, as its rows say; undefined: nobody has confirmed one by email. */
export async function findFirstConfirmationEmail(queries: SourceQueries): Promise<number | undefined> {
  let first: number | undefined;
  for await (const record of readPages(queries, "users", ["created_at", "confirmed_at"])) {
    const [createdAt, confirmedAt] = [timeOf(record.created_at), timeOf(record.confirmed_at)];
    if (createdAt === undefined || confirmedAt === undefined || confirmedAt <= createdAt + creationMs) continue;
    first = Math.min(first ?? createdAt, createdAt);
  }
  return first;
}

async function* readPages(queries: SourceQueries, table: "users" | "pushes", columns: readonly string[]) {
  const read = (afterId: number) => {
    const page = queries.page(table, columns, afterId, pageRows);
    // A damaged row hides the columns of the whole page.
    return unlessDamaged(page, () => queries.page(table, [], afterId, pageRows));
  };
  for await (const page of pagesAfter(beforeFirstId, read))
    yield* page.filter(({ id }) => wholeNumberOf(id) !== undefined);
}
