import type { SourceRecord } from "./source-rows.ts";
import type { SourceTable, SourceTables } from "./source-tables.ts";

/** The statements of a driver take so many parameters at most; each of these ids is one. */
const idsMax = 500;

/** @param statement gets the list of ids with its brackets. */
export async function inBatches(
  { rows }: SourceTables,
  ids: readonly number[],
  statement: (list: string) => string,
): Promise<readonly SourceRecord[]> {
  const found: SourceRecord[] = [];
  for (let start = 0; start < ids.length; start += idsMax) {
    const batch = ids.slice(start, start + idsMax);
    found.push(...(await rows.all(statement(`(${batch.map(() => "?").join(", ")})`), batch)));
  }
  return found;
}

/** The first row; an empty one when there is none. */
export async function firstOf(
  { rows }: SourceTables,
  statement: string,
  parameters: readonly (string | number)[] = [],
): Promise<SourceRecord> {
  return (await rows.all(statement, parameters))[0] ?? {};
}

export function from({ name }: SourceTables, table: SourceTable, alias: string): string {
  return `${name(table)} ${alias}`;
}
