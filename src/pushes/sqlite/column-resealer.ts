import type { Keyring } from "../../crypto/keyring.ts";
import type { SealedColumn } from "../../db/sealed-column.ts";
import type { Database } from "../../db/sqlite.ts";

/** Before every id: numbers are positive, and bytes come after all numbers. */
export const beforeAllIds = -1;

export type RowId = number | Buffer;

/**
 * Seals the values of other rooms anew under the active key. @returns the step for one batch of a column, in the order
 * of ids; undefined at the end. Its rows may come and go meanwhile: those that come are sealed under the active key.
 * @throws Error when a value opens under no key of the ring.
 */
export function createColumnResealer(
  db: Database,
  keyring: Keyring,
  { table, idColumn, sealedColumn, contextOf }: SealedColumn,
) {
  type Row = { readonly id: RowId; readonly sealed: Buffer };
  const batch = db.writer.prepare<[RowId, number], Row>(
    `SELECT ${idColumn} AS id, ${sealedColumn} AS sealed FROM ${table} WHERE ${idColumn} > ? ORDER BY ${idColumn} LIMIT ?`,
  );
  const write = db.writer.prepare<[Buffer, RowId]>(`UPDATE ${table} SET ${sealedColumn} = ? WHERE ${idColumn} = ?`);

  function reseal({ id, sealed }: Row): number {
    if (keyring.sealedUnderActive(sealed)) return 0;
    const plain = keyring.open(contextOf(id), sealed);
    if (plain === undefined)
      throw new Error(`A sealed value does not open under any given master key: ${contextOf(id)}.`);
    write.run(keyring.seal(contextOf(id), plain), id);
    return 1;
  }

  return (afterId: RowId, limit: number): Promise<{ resealed: number; lastId: RowId } | undefined> =>
    db.write(() => {
      const rows = batch.all(afterId, limit);
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      return { resealed: rows.reduce((sum, row) => sum + reseal(row), 0), lastId: last.id };
    });
}
