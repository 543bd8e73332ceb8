import type { Database, Transaction } from "../../database/database.ts";
import { type DriverRow, type Statement, sql, type Value } from "../../database/statement.ts";
import { payloads } from "./tables.ts";

/**
 * A reading inside a transaction of rows that it is about to change. PostgreSQL locks them and leaves out those that another
 * process works on, so that all of them share the work; SQLite's transactions run one after the other anyway.
 */
export function sqlOfFreeRows<Parameters extends readonly Value[], Row extends DriverRow<Row>>(
  text: string,
): Statement<Parameters, Row> {
  return sql<Parameters, Row>({ sqlite: text, postgres: `${text} FOR UPDATE SKIP LOCKED` });
}

/** The same, waiting for others: none of the rows may be left out. `table`: whose rows are locked. */
export function sqlOfLockedRows<Parameters extends readonly Value[], Row extends DriverRow<Row>>(
  text: string,
  table: string,
): Statement<Parameters, Row> {
  return sql<Parameters, Row>({ sqlite: text, postgres: `${text} FOR UPDATE OF ${table}` });
}

const insertDataKey = sql<[id: number | null, sealed: Buffer], { id: number }>(
  "INSERT INTO data_keys (id, sealed) VALUES (?, ?) RETURNING id",
);

/** SQLite only ever appends; PostgreSQL gives a key the id of its push. @returns the id of the key. */
export async function writeDataKey(
  tx: Transaction,
  engine: Database["engine"],
  pushId: number,
  sealed: Buffer,
): Promise<number> {
  const written = await tx.one(insertDataKey, engine === "sqlite" ? null : pushId, sealed);
  if (written === undefined) throw new Error("The data key was not written.");
  return written.id;
}

/** SQLite: in place, for the same width on the same row moves nothing (see the schema). */
export const destroyDataKey = sql<[id: number]>({
  sqlite: "UPDATE data_keys SET sealed = zeroblob(length(sealed)) WHERE id = ?",
  postgres: "DELETE FROM data_keys WHERE id = ?",
});

export const takeUpload = sql<[blobKey: string]>("DELETE FROM uploads WHERE blob_key = ?");

export const insertPayload = payloads.insert();
export const deletePayload = sql<[pushId: number]>("DELETE FROM payloads WHERE push_id = ?");

export const deleteAuditEntries = sql<[pushId: number]>("DELETE FROM audit_entries WHERE push_id = ?");

/** Due at once. */
export const queueBlob = sql<[blobKey: string]>(
  "INSERT INTO blob_deletions (blob_key, due_at, attempts) VALUES (?, 0, 0) ON CONFLICT (blob_key) DO NOTHING",
);
