import type { KeyTrial } from "../../../src/import/source.ts";
import { textOf } from "./cells.ts";
import type { Lockbox, SealedPlace } from "./lockbox.ts";
import type { SourceQueries } from "./store/queries.ts";
import { SourceReadError, type SourceRecord } from "./store/source-rows.ts";

/**
 * Of each column so many of the newest and as many of the oldest values: after rotations that were not recorded, only the
 * newest may open.
 */
const valuesEach = 4;
const examplesMax = 5;

const places: readonly SealedPlace[] = [
  ...(["payload_ciphertext", "note_ciphertext", "passphrase_ciphertext"] as const).map((column): SealedPlace => {
    return { table: "pushes", column };
  }),
  { table: "users", column: "otp_secret_ciphertext" },
  ...(["recipients_ciphertext", "locale_ciphertext"] as const).map((column): SealedPlace => {
    return { table: "notify_by_emails", column };
  }),
];

/** At most 48 values of all tables together. */
export async function tryKeys(queries: Pick<SourceQueries, "sealedValues">, lockbox: Lockbox): Promise<KeyTrial> {
  const unopened = new Set<string>();
  let [tried, opened] = [0, 0];
  for (const place of places) {
    for (const { id, value } of await sampleOf(queries, place)) {
      tried += 1;
      if (lockbox.open(place, textOf(value ?? null) ?? "").outcome === "opened") opened += 1;
      else unopened.add(`${place.table} ${textOf(id)}`);
    }
  }
  return { tried, opened, examples: [...unopened].slice(0, examplesMax) };
}

async function sampleOf(
  { sealedValues }: Pick<SourceQueries, "sealedValues">,
  place: SealedPlace,
): Promise<readonly SourceRecord[]> {
  try {
    const both = [
      ...(await sealedValues(place, "DESC", valuesEach)),
      ...(await sealedValues(place, "ASC", valuesEach)),
    ];
    return [...new Map(both.map((record) => [String(record.id), record])).values()];
  } catch (error) {
    // Damage is told row by row, later.
    if (error instanceof SourceReadError) return [];
    throw error;
  }
}
