import type { Keyring } from "../../crypto/keyring.ts";
import type { Database, SealedColumn, Transaction } from "../../database/database.ts";
import { type KeyMark, removeKeyMark } from "../../database/processes.ts";
import { sql } from "../../database/statement.ts";
import { sealContexts } from "../seals.ts";
import { sealedMetaValues } from "../vault.ts";
import { sqlOfLockedRows } from "./write-operations.ts";

interface SealedRow {
  readonly id: number;
  readonly ownerId: number | null;
  readonly endedAt: number | null;
  readonly dataKeyId: number;
  readonly dataKeySealed: Buffer | null;
  readonly tokenSealed: Buffer | null;
  readonly nameSealed: Buffer | null;
  readonly noteSealed: Buffer | null;
}

const readMeta = sqlOfLockedRows<[name: string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?", "meta");
const writeMeta = sql<[value: Buffer, name: string]>("UPDATE meta SET value = ? WHERE name = ?");
// Ends and edits of a push change its row first, so they wait for the batch.
const batch = sqlOfLockedRows<[afterId: number, limit: number], SealedRow>(
  `SELECT pushes.id, owner_id AS ownerId, ended_at AS endedAt, data_key_id AS dataKeyId, data_keys.sealed AS dataKeySealed,
     token_sealed AS tokenSealed, name_sealed AS nameSealed, note_sealed AS noteSealed
   FROM pushes LEFT JOIN data_keys ON data_keys.id = pushes.data_key_id AND pushes.ended_at IS NULL
   WHERE pushes.id > ? ORDER BY pushes.id LIMIT ?`,
  "pushes",
);
const writeKey = sql<[sealed: Buffer, dataKeyId: number]>("UPDATE data_keys SET sealed = ? WHERE id = ?");
const writeLabels = sql<[token: Buffer | null, name: Buffer | null, note: Buffer | null, pushId: number]>(
  "UPDATE pushes SET token_sealed = ?, name_sealed = ?, note_sealed = ? WHERE id = ?",
);
const filesOfPush = sql<[pushId: number], { id: number; detailsSealed: Buffer }>(
  "SELECT id, details_sealed AS detailsSealed FROM files WHERE push_id = ?",
);
const writeFile = sql<[detailsSealed: Buffer, fileId: number]>("UPDATE files SET details_sealed = ? WHERE id = ?");

/** Reads and writes inside one transaction, so nothing can change in between. */
export function createResealer(db: Database, keyring: Keyring) {
  /** @returns undefined when the value is null or already sealed under the active key. */
  function reseal(context: string, sealed: Buffer | null): Buffer | undefined {
    if (sealed === null || keyring.sealedUnderActive(sealed)) return undefined;
    const plain = keyring.open(context, sealed);
    if (plain === undefined) throw new Error(`A sealed value does not open under any given master key: ${context}.`);
    return keyring.seal(context, plain);
  }

  async function resealRow(tx: Transaction, row: SealedRow): Promise<number> {
    let resealed = 0;
    const dataKey = reseal(sealContexts.dataKey(row.id), row.dataKeySealed);
    if (dataKey !== undefined) {
      await tx.run(writeKey, dataKey, row.dataKeyId);
      resealed += 1;
    }
    const token = reseal(sealContexts.token(row.id), row.tokenSealed);
    const name = reseal(sealContexts.name(row.id), row.nameSealed);
    const note = reseal(sealContexts.note(row.id), row.noteSealed);
    const labels = [token, name, note].filter((label) => label !== undefined).length;
    if (labels > 0) {
      await tx.run(writeLabels, token ?? row.tokenSealed, name ?? row.nameSealed, note ?? row.noteSealed, row.id);
    }
    return resealed + labels + (row.ownerId === null ? 0 : await resealFiles(tx, row.id));
  }

  async function resealFiles(tx: Transaction, pushId: number): Promise<number> {
    let resealed = 0;
    for (const file of await tx.all(filesOfPush, pushId)) {
      const details = reseal(sealContexts.fileDetails(file.id), file.detailsSealed);
      if (details === undefined) continue;
      await tx.run(writeFile, details, file.id);
      resealed += 1;
    }
    return resealed;
  }

  return {
    /** The secrets of the database. @returns how many were sealed again. */
    metaValues: (): Promise<number> =>
      db.write(async (tx) => {
        let resealed = 0;
        for (const { name, context } of sealedMetaValues) {
          const fresh = reseal(context, (await tx.one(readMeta, name))?.value ?? null);
          if (fresh === undefined) continue;
          await tx.run(writeMeta, fresh, name);
          resealed += 1;
        }
        return resealed;
      }),
    /** Reseals the next batch in the order of ids; undefined at the end. */
    pushesAfter: (
      afterId: number,
      limit: number,
    ): Promise<{ pushes: number; resealed: number; lastId: number } | undefined> =>
      db.write(async (tx) => {
        const rows = await tx.all(batch, afterId, limit);
        const last = rows.at(-1);
        if (last === undefined) return undefined;
        let resealed = 0;
        for (const row of rows) resealed += await resealRow(tx, row);
        return { pushes: rows.length, resealed, lastId: last.id };
      }),
    /**
     * Removes the marks of keys that no longer seal anything. `assertUnused` throws to prevent it; no other process can register
     * while it runs. @returns false, without any change, when one of the marks has changed since it was read.
     */
    async retire(marks: readonly KeyMark[], assertUnused: (tx: Transaction) => Promise<void>): Promise<boolean> {
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
    },
  };
}

/** Undoes the transaction. */
class KeyUsedAgainError extends Error {
  override readonly name = "KeyUsedAgainError";
}

export type RowId = number | Buffer;

/**
 * Reseals the values of other rooms under the active key. @returns the step for one batch of a column: rows in the order of
 * their ids, after a given id or from the first; undefined at the end. Rows may be inserted and deleted meanwhile; new rows
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
