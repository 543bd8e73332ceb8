import { textOf } from "./cells.ts";
import type { Lockbox, LockboxColumn } from "./lockbox.ts";
import type { KeyTrial } from "./source.ts";
import type { SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

/**
 * The number of newest and of oldest values of each column. If earlier keys are unknown, only the newest may open.
 */
const valuesEach = 4;
const examplesMax = 5;

const columns: readonly LockboxColumn[] = [
  ...(["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"] as const).map((column): LockboxColumn => {
    return { table: "pushes", column };
  }),
  { table: "users", column: "otp_secret_ciphertext" },
  ...(["recipients_ciphertext", "locale_ciphertext"] as const).map((column): LockboxColumn => {
    return { table: "notify_by_emails", column };
  }),
];

/** Tries at most 48 values. */
export async function tryKeys(queries: Pick<SourceQueries, "sealedValues">, lockbox: Lockbox): Promise<KeyTrial> {
  const unopened = new Set<string>();
  let [tried, opened] = [0, 0];
  for (const column of columns) {
    for (const { id, value } of await sampleOf(queries, column)) {
      tried += 1;
      if (lockbox.open(column, textOf(value ?? null) ?? "").outcome === "opened") opened += 1;
      else unopened.add(`${column.table} ${textOf(id)}`);
    }
  }
  return { tried, opened, examples: [...unopened].slice(0, examplesMax) };
}

async function sampleOf(
  { sealedValues }: Pick<SourceQueries, "sealedValues">,
  column: LockboxColumn,
): Promise<readonly SourceRecord[]> {
  try {
    const both = [
      ...(await sealedValues(column, "DESC", valuesEach)),
      ...(await sealedValues(column, "ASC", valuesEach)),
    ];
    return [...new Map(both.map((record) => [String(record.id), record])).values()];
  } catch (error) {
    // Damage is reported for each row later.
    if (error instanceof SourceReadError) return [];
    throw error;
  }
}
