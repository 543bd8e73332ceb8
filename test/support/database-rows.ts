import type { TestApp } from "./app.ts";
import { readRows, tablesOf } from "./engine-database.ts";

type Row = Readonly<Record<string, unknown>>;

/** Columns that reads and refused requests write: times of use, wrong codes, counters. */
const usageColumns: Readonly<Record<string, readonly string[]>> = {
  users: ["factor_failures", "factor_failures_since", "mac"],
  sessions: ["seen_at"],
  api_tokens: ["last_used_at", "last_used_address"],
  pushes: ["audit_count", "refusals", "updated_at"],
  // The mail job may try to send a waiting email at any time.
  outbox: ["attempts", "last_error"],
};
const tracks: readonly string[] = [
  "audit_entries",
  "processes",
  "job_runs",
  "id_blocks",
  "passkey_challenges",
  "limit_windows",
  "limit_attempts",
];

/**
 * Every row of the database as text, except the rows of this user and columns that record use: two results are equal if
 * nothing else has changed.
 */
export async function rowsOfOthers({ app }: TestApp, userId: number | null): Promise<readonly string[]> {
  const { db } = app.domain;
  const found: string[] = [];
  for (const table of (await tablesOf(db)).filter((name) => !tracks.includes(name))) {
    const rows = (await readRows(db, `SELECT * FROM ${table}`))
      .filter((row) => (userId === null || !belongsTo(table, row, userId)) && !isSpentForEqualWork(table, row))
      .map((row) => `${table} ${textOf(withoutTime(table, row), usageColumns[table] ?? [])}`);
    found.push(...rows.sort());
  }
  return found;
}

/** @returns added and removed rows; a changed row is in both. */
export function changesBetween(before: readonly string[], after: readonly string[]): readonly string[] {
  const [old, fresh] = [new Set(before), new Set(after)];
  const gone = before.filter((row) => !fresh.has(row)).map((row) => `- ${row}`);
  return [...gone, ...after.filter((row) => !old.has(row)).map((row) => `+ ${row}`)];
}

/** Rows that are written for unknown addresses too, so that known and unknown ones cost the same. */
function isSpentForEqualWork(table: string, row: Row): boolean {
  return table === "meta" && row.name === "nothing";
}

/**
 * Ignores times that jobs write whenever they run: when a waiting email is tried again (kept: whether it waits or has failed),
 * and when a process last marked its key as in use.
 */
function withoutTime(table: string, row: Row): Row {
  if (table === "outbox" && row.due_at !== null) return { ...row, due_at: "waits" };
  return table === "meta" && isKeyMark(row) ? { ...row, value: "marked" } : row;
}

const isKeyMark = ({ name }: Row) => typeof name === "string" && name.startsWith("key_in_use:");

function belongsTo(table: string, row: Row, userId: number): boolean {
  return (table === "users" ? row.id : (row.user_id ?? row.owner_id)) === userId;
}

function textOf(row: Row, without: readonly string[]): string {
  const kept = Object.entries(row).filter(([name]) => !without.includes(name));
  return JSON.stringify(kept.map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString("hex") : value]));
}
