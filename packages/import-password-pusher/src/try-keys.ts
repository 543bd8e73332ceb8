import { textOf } from "./cells.ts";
import type { Lockbox, LockboxColumn } from "./lockbox.ts";
import type { KeyTrial } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import { type SourceRecord, unlessDamaged } from "./store/source-rows.ts";

/**
 * The number of newest and of oldest values of each column. If earlier keys are unknown, only the newest may open.
 */
const valuesEach = 4;
const examplesMax = 5;

const columns: readonly LockboxColumn[] = [
  { table: "pushes", column: "payload_ciphertext" },
  { table: "pushes", column: "note_ciphertext" },
  { table: "pushes", column: "passphrase_ciphertext" },
  { table: "users", column: "otp_secret_ciphertext" },
  { table: "notify_by_emails", column: "recipients_ciphertext" },
  { table: "notify_by_emails", column: "locale_ciphertext" },
];

type KeyQueries = Pick<SourceQueries, "sealedValues">;

/** Tries at most 48 values. */
export async function tryKeys(queries: KeyQueries, lockbox: Lockbox): Promise<KeyTrial> {
  const unopened = new Set<string>();
  let [tried, opened] = [0, 0];
  for (const column of columns) {
    for (const { id, value } of await sampleOf(queries, column)) {
      tried += 1;
      if (lockbox.open(column, textOf(value ?? null) ?? "") !== undefined) opened += 1;
      else unopened.add(`${column.table} ${textOf(id)}`);
    }
  }
  return { tried, opened, examples: [...unopened].slice(0, examplesMax) };
}

async function sampleOf(queries: KeyQueries, column: LockboxColumn): Promise<readonly SourceRecord[]> {
  const read = async () => [
    ...(await queries.sealedValues(column, "DESC", valuesEach)),
    ...(await queries.sealedValues(column, "ASC", valuesEach)),
  ];
  const both = await unlessDamaged(read(), () => []);
  return [...new Map(both.map((record) => [String(record.id), record])).values()];
}
