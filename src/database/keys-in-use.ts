import type { ReadConnection, Transaction } from "./database.ts";
import { sql } from "./statement.ts";

/** A master key that may have sealed rows of this database. */
export interface KeyMark {
  readonly keyId: string;
  /** Changes whenever a process that seals under the key says that it is at work. */
  readonly markedAt: string;
}

const prefix = "key_in_use:";
/** The next word after all that begin with the prefix. */
const prefixEnd = "key_in_use;";

const readMarks = sql<[from: string, to: string], { name: string; value: Buffer }>(
  "SELECT name, value FROM meta WHERE name >= ? AND name < ? ORDER BY name",
);
const writeMark = sql<[name: string, value: Buffer]>(
  "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);
const deleteMark = sql<[name: string, value: Buffer]>("DELETE FROM meta WHERE name = ? AND value = ?");

/** In the order of their ids. */
export async function readKeyMarks(reading: ReadConnection): Promise<readonly KeyMark[]> {
  const rows = await reading.all(readMarks, prefix, prefixEnd);
  return rows.map((row) => ({ keyId: row.name.slice(prefix.length), markedAt: row.value.toString("latin1") }));
}

/** In the turn "keys". */
export async function markKey(tx: Transaction, keyId: string, now: number): Promise<void> {
  await tx.run(writeMark, `${prefix}${keyId}`, Buffer.from(String(now), "latin1"));
}

/** In the turn "keys". @returns false when the mark has changed since it was read: the key is in use again. */
export async function removeKeyMark(tx: Transaction, mark: KeyMark): Promise<boolean> {
  return (await tx.run(deleteMark, `${prefix}${mark.keyId}`, Buffer.from(mark.markedAt, "latin1"))) === 1;
}
