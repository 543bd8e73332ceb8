import type { Keyring } from "../../crypto/keyring.ts";
import type { Database, SealedColumn, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { sqlOfLockedRows } from "./statements.ts";

export type RowId = number | Buffer;

/**
 * Seals the values of other rooms anew under the active key. @returns the step for one batch of a column, in the order
 * of ids, after one of them or from the first; undefined at the end. Its rows may come and go meanwhile: those that come
 * are sealed under the active key. @throws Error when a value opens under no key of the ring.
 */
export function createColumnResealer(
  db: Database,
  keyring: Keyring,
  { table, idColumn, sealedColumn, contextOf }: SealedColumn,
) {
  type Row = { readonly id: RowId; readonly sealed: Buffer };
  const columns = `SELECT ${idColumn} AS id, ${sealedColumn} AS sealed FROM ${table}`;
  const inOrder = `ORDER BY ${idColumn} LIMIT ?`;
  const firstBatch = sqlOfLockedRows<[limit: number], Row>(`${columns} ${inOrder}`, table);
  const nextBatch = sqlOfLockedRows<[afterId: RowId, limit: number], Row>(
    `${columns} WHERE ${idColumn} > ? ${inOrder}`,
    table,
  );
  const write = sql<[sealed: Buffer, id: RowId]>(`UPDATE ${table} SET ${sealedColumn} = ? WHERE ${idColumn} = ?`);

  async function reseal(tx: Transaction, { id, sealed }: Row): Promise<number> {
    if (keyring.sealedUnderActive(sealed)) return 0;
    const plain = keyring.open(contextOf(id), sealed);
    if (plain === undefined)
      throw new Error(`A sealed value does not open under any given master key: ${contextOf(id)}.`);
    await tx.run(write, keyring.seal(contextOf(id), plain), id);
    return 1;
  }

  return (afterId: RowId | undefined, limit: number): Promise<{ resealed: number; lastId: RowId } | undefined> =>
    db.write(async (tx) => {
      const rows = afterId === undefined ? await tx.all(firstBatch, limit) : await tx.all(nextBatch, afterId, limit);
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      let resealed = 0;
      for (const row of rows) resealed += await reseal(tx, row);
      return { resealed, lastId: last.id };
    });
}
