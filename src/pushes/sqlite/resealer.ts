import type { Keyring } from "../../crypto/keyring.ts";
import { type KeyMark, prepareKeyMarks } from "../../db/keys-in-use.ts";
import type { Database } from "../../db/sqlite.ts";
import { sealContexts } from "../seals.ts";
import { indexKeyContext, indexKeyName } from "../vault.ts";

export interface Resealer {
  /** @returns 1 when it was sealed anew, 0 when it was up to date. */
  indexKey(): Promise<number>;
  /** The next batch in the order of ids; undefined at the end. */
  pushesAfter(
    afterId: number,
    limit: number,
  ): Promise<{ pushes: number; resealed: number; lastId: number } | undefined>;
  /**
   * Nothing is sealed under these keys any more. `assertUnused` throws to prevent it; it runs while no other process can
   * write. @returns false, and nothing is done, when one of the marks is no longer as it was read.
   */
  retire(marks: readonly KeyMark[], assertUnused: () => void): Promise<boolean>;
}

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

/** Reads and writes inside one unit, on the writer: nothing can change between the two. */
export function createResealer(db: Database, keyring: Keyring): Resealer {
  const { writer } = db;
  const readMeta = writer.prepare<[string], { value: Buffer }>("SELECT value FROM meta WHERE name = ?");
  const writeMeta = writer.prepare("UPDATE meta SET value = ? WHERE name = ?");
  const keyMarks = prepareKeyMarks(writer);
  const batch = writer.prepare<[number, number], SealedRow>(
    `SELECT pushes.id, owner_id AS ownerId, ended_at AS endedAt, data_key_id AS dataKeyId, data_keys.sealed AS dataKeySealed,
       token_sealed AS tokenSealed, name_sealed AS nameSealed, note_sealed AS noteSealed
     FROM pushes LEFT JOIN data_keys ON data_keys.id = pushes.data_key_id AND pushes.ended_at IS NULL
     WHERE pushes.id > ? ORDER BY pushes.id LIMIT ?`,
  );
  const writeKey = writer.prepare("UPDATE data_keys SET sealed = ? WHERE id = ?");
  const writeLabels = writer.prepare(
    "UPDATE pushes SET token_sealed = ?, name_sealed = ?, note_sealed = ? WHERE id = ?",
  );
  const files = writer.prepare<[number], { id: number; detailsSealed: Buffer }>(
    "SELECT id, details_sealed AS detailsSealed FROM files WHERE push_id = ?",
  );
  const writeFile = writer.prepare("UPDATE files SET details_sealed = ? WHERE id = ?");

  /** @returns undefined when it is sealed under the active key already (or not at all). */
  function reseal(context: string, sealed: Buffer | null): Buffer | undefined {
    if (sealed === null || keyring.sealedUnderActive(sealed)) return undefined;
    const plain = keyring.open(context, sealed);
    if (plain === undefined) throw new Error(`A sealed value does not open under any given master key: ${context}.`);
    return keyring.seal(context, plain);
  }

  function resealRow(row: SealedRow): number {
    let resealed = 0;
    const dataKey = reseal(sealContexts.dataKey(row.id), row.dataKeySealed);
    if (dataKey !== undefined) {
      writeKey.run(dataKey, row.dataKeyId);
      resealed += 1;
    }
    const token = reseal(sealContexts.token(row.id), row.tokenSealed);
    const name = reseal(sealContexts.name(row.id), row.nameSealed);
    const note = reseal(sealContexts.note(row.id), row.noteSealed);
    const labels = [token, name, note].filter((label) => label !== undefined).length;
    if (labels > 0) writeLabels.run(token ?? row.tokenSealed, name ?? row.nameSealed, note ?? row.noteSealed, row.id);
    return resealed + labels + (row.ownerId === null ? 0 : resealFiles(row.id));
  }

  function resealFiles(pushId: number): number {
    let resealed = 0;
    for (const file of files.all(pushId)) {
      const details = reseal(sealContexts.fileDetails(file.id), file.detailsSealed);
      if (details === undefined) continue;
      writeFile.run(details, file.id);
      resealed += 1;
    }
    return resealed;
  }

  return {
    indexKey: () =>
      db.write(() => {
        const fresh = reseal(indexKeyContext, readMeta.get(indexKeyName)?.value ?? null);
        if (fresh === undefined) return 0;
        writeMeta.run(fresh, indexKeyName);
        return 1;
      }),
    pushesAfter: (afterId, limit) =>
      db.write(() => {
        const rows = batch.all(afterId, limit);
        const last = rows.at(-1);
        if (last === undefined) return undefined;
        const resealed = rows.reduce((sum, row) => sum + resealRow(row), 0);
        return { pushes: rows.length, resealed, lastId: last.id };
      }),
    async retire(marks, assertUnused) {
      try {
        await db.write(() => {
          assertUnused();
          for (const mark of marks) if (!keyMarks.remove(mark)) throw new KeyUsedAgainError();
        });
        return true;
      } catch (error) {
        if (error instanceof KeyUsedAgainError) return false;
        throw error;
      }
    },
  };
}

/** Undoes the unit. */
class KeyUsedAgainError extends Error {
  override readonly name = "KeyUsedAgainError";
}
