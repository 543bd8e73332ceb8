import { createHash } from "node:crypto";
import type { ReadConnection } from "../database/database.ts";
import type { Value } from "../database/statement.ts";
import type { RowMover } from "./store/row-movers.ts";

export interface TableDigest {
  readonly rows: number;
  /** SHA-256 of all values in the order of the key. It is the same on both engines. */
  readonly digest: string;
}

/** Reads the whole table in batches. */
export async function digestOf(connection: ReadConnection, mover: RowMover, batchRows: number): Promise<TableDigest> {
  const hash = createHash("sha256");
  let rows = 0;
  for (let after: readonly Value[] | undefined; ; ) {
    const batch = await mover.read(connection, after, batchRows);
    for (const row of batch) for (const column of mover.columns) hash.update(encoded(row[column] ?? null));
    rows += batch.length;
    const last = batch.at(-1);
    if (last === undefined) return { rows, digest: hash.digest("hex") };
    after = mover.keyOf(last);
  }
}

/** Type, length and bytes, so that different lists of values have different encodings. */
function encoded(value: Value): Buffer {
  if (value === null) return Buffer.from("-");
  const [type, bytes] = Buffer.isBuffer(value)
    ? ["b", value]
    : [typeof value === "number" ? "n" : "t", Buffer.from(String(value))];
  return Buffer.concat([Buffer.from(`${type}${bytes.length}:`), bytes]);
}
