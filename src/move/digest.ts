import { createHash } from "node:crypto";
import type { ReadConnection } from "../database/database.ts";
import type { Value } from "../database/statement.ts";
import type { RowMover } from "./store/rows.ts";

export interface TableDigest {
  readonly rows: number;
  /** SHA-256 over all values in the order of the key, the same on both engines. */
  readonly digest: string;
}

/** Reads the whole table in batches. */
export async function digestOf(reading: ReadConnection, mover: RowMover, batchRows: number): Promise<TableDigest> {
  const hash = createHash("sha256");
  let rows = 0;
  for (let after: readonly Value[] | undefined; ; ) {
    const batch = await mover.read(reading, after, batchRows);
    for (const row of batch) for (const column of mover.columns) hash.update(encoded(row[column] ?? null));
    rows += batch.length;
    const last = batch.at(-1);
    if (last === undefined) return { rows, digest: hash.digest("hex") };
    after = mover.keyOf(last);
  }
}

/** Kind, length and bytes, so that no two lists of values look alike. */
function encoded(value: Value): Buffer {
  if (value === null) return Buffer.from("-");
  const [kind, bytes] = Buffer.isBuffer(value)
    ? ["b", value]
    : [typeof value === "number" ? "n" : "t", Buffer.from(String(value))];
  return Buffer.concat([Buffer.from(`${kind}${bytes.length}:`), bytes]);
}
