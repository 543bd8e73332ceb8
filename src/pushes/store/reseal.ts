import type { Keyring } from "../../crypto/keyring.ts";
import type { RotatedColumn } from "../../crypto/sealed-column.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { type KeyMark, removeKeyMark } from "../../database/processes.ts";
import { sql } from "../../database/statement.ts";

export type RowId = number | string | Buffer;

interface SealedValue {
  readonly id: RowId;
  readonly key: RowId | null;
  readonly ownerId: number | null;
  readonly sealed: Buffer | null;
}

/**
 * Seals the values of a column again, in batches of rows in the order of their ids. Rows may be inserted, changed and deleted
 * meanwhile: a value that was read is replaced only if it is still the same, and new values are sealed under the active key.
 * @returns how many values each batch has replaced. @throws Error when a value opens under no key of the ring.
 */
export async function* resealColumn(
  db: Database,
  keyring: Keyring,
  sealedColumn: RotatedColumn,
  batchRows: number,
): AsyncGenerator<number> {
  const { table, column, seal } = sealedColumn;
  const { id, owner, key = id, from = table, only } = seal.rows;
  const columns = `SELECT ${id} AS id, ${key} AS key, ${owner} AS "ownerId", ${table}.${column} AS sealed FROM ${from}`;
  const inOrder = `ORDER BY ${id} LIMIT ?`;
  const firstBatch = sql<[limit: number], SealedValue>(`${columns} ${inOrder}`);
  const nextBatch = sql<[afterId: RowId, limit: number], SealedValue>(`${columns} WHERE ${id} > ? ${inOrder}`);
  const replace = sql<[fresh: Buffer, key: RowId, read: Buffer]>(
    `UPDATE ${table} SET ${column} = ? WHERE ${key} = ? AND ${column} = ?`,
  );

  function reseal(row: SealedValue): { key: RowId; read: Buffer; fresh: Buffer } | undefined {
    const { key, sealed } = row;
    if (key === null || sealed === null) return undefined;
    if (only !== undefined && only !== (row.ownerId === null ? "anonymous" : "owned")) return undefined;
    if (keyring.sealedUnderActive(sealed)) return undefined;
    const plain = keyring.open(sealedColumn, row, sealed);
    if (plain === undefined) {
      const name = typeof row.id === "object" ? row.id.toString("hex") : row.id;
      throw new Error(`${table}.${column} of ${name} does not open under any given master key.`);
    }
    return { key, read: sealed, fresh: keyring.seal(sealedColumn, row, plain) };
  }

  let batch = await db.read.all(firstBatch, batchRows);
  for (let last = batch.at(-1); last !== undefined; last = batch.at(-1)) {
    const stale = batch.flatMap((row) => reseal(row) ?? []);
    yield stale.length === 0
      ? 0
      : await db.write(async (tx) => {
          let replaced = 0;
          for (const { fresh, key, read } of stale) replaced += await tx.run(replace, fresh, key, read);
          return replaced;
        });
    batch = await db.read.all(nextBatch, last.id, batchRows);
  }
}

/**
 * Removes the marks of keys that no longer seal anything. `assertUnused` throws to prevent it; no other process can register
 * while it runs. @returns false, without any change, when one of the marks has changed since it was read.
 */
export async function retireKeys(
  db: Database,
  marks: readonly KeyMark[],
  assertUnused: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  try {
    await db.writeSerialized("keys", async (tx) => {
      await assertUnused(tx);
      for (const mark of marks) if (!(await removeKeyMark(tx, mark))) throw new KeyUsedAgainError();
    });
    return true;
  } catch (error) {
    if (error instanceof KeyUsedAgainError) return false;
    throw error;
  }
}

/** Undoes the transaction. */
class KeyUsedAgainError extends Error {
  override readonly name = "KeyUsedAgainError";
}
