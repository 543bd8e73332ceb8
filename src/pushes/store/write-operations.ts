import { capabilitiesOf, type Transaction } from "../../database/database.ts";
import { type DriverRow, type Statement, sql, sqlOfSum, type Value } from "../../database/statement.ts";
import { type AuditRecord, foldedSequence, folds } from "../audit/audit-trail.ts";
import { type EndReason, endReasons } from "../stored-values.ts";
import {
  auditEntries,
  type FileRow,
  files,
  newPushes,
  type PushRow,
  payloads,
  pushes,
  readPushes,
  type StoredPush,
} from "./tables.ts";

/**
 * A read of rows that the same transaction is about to change. PostgreSQL locks them and skips rows that another process has
 * locked, so that processes share the work. SQLite's transactions run one after another anyway.
 */
export function sqlOfFreeRows<Parameters extends readonly Value[], Row extends DriverRow<Row>>(
  text: string,
): Statement<Parameters, Row> {
  return sql<Parameters, Row>({ sqlite: text, postgres: `${text} FOR UPDATE SKIP LOCKED` });
}

/** As above, but waits for rows locked by others instead of skipping them. @param table the table to lock rows of. */
export function sqlOfLockedRows<Parameters extends readonly Value[], Row extends DriverRow<Row>>(
  text: string,
  table: string,
): Statement<Parameters, Row> {
  return sql<Parameters, Row>({ sqlite: text, postgres: `${text} FOR UPDATE OF ${table}` });
}

/**
 * When a live push expires; NULL for one that has ended. Not written as conditions on the two columns: while the statistics of
 * PostgreSQL know of no live push, it would find the row of an id through the index of all live ones.
 */
export const liveUntil = "CASE WHEN ended_at IS NULL THEN expires_at END";

/** For the row of what `writeRowSecret` has just appended. Cheaper than reading the id with RETURNING. */
export const lastRowSecret = { rowSecretId: "coalesce(?, last_insert_rowid())" };
export const insertPush = sql<Value[]>({
  sqlite: newPushes.insertText(1, lastRowSecret),
  postgres: newPushes.insertText(),
});

/** The key of a file, sealed for an address that is handed out. It is stored among the row secrets, so it is as long as one. */
export interface SealedKey {
  readonly keySealed: Buffer;
  /** An id that no push has: on PostgreSQL the id of its row. */
  readonly keyId: number;
}

const insertRowSecret = sql<[id: number | null, sealed: Buffer]>("INSERT INTO row_secrets (id, sealed) VALUES (?, ?)");

/**
 * Writes a row secret, just before the row that names it. SQLite only appends.
 * @param newId that of the push, or one that no push has, for PostgreSQL. @returns the id for that row; null: the appended one.
 */
export async function writeRowSecret(tx: Transaction, newId: number, sealed: Buffer): Promise<number | null> {
  const id = capabilitiesOf[tx.engine].rowSecretId === "push" ? newId : null;
  await tx.run(insertRowSecret, id, sealed);
  return id;
}

/**
 * The parts of a statement that ends a push. PostgreSQL's claim combines them in one statement; transactions run them one
 * after another. The parameters identify the row: `?`, or a subselect that returns at most one row.
 */
export const endParts = {
  /** Do not call it for a push that keeps its payload: a job deletes it with the last copy of the row secret. */
  deletePayload: (pushId: string) => `DELETE FROM payloads WHERE push_id = ${pushId}`,
  /** Files that are due earlier keep their time. */
  queueBlobs: (dueAt: string, pushId: string) => `INSERT INTO blob_deletions (blob_key, due_at, attempts)
     SELECT blob_key, CAST(${dueAt} AS BIGINT), 0 FROM files WHERE push_id = ${pushId}
     ON CONFLICT (blob_key) DO UPDATE SET due_at =
       CASE WHEN blob_deletions.due_at < excluded.due_at THEN blob_deletions.due_at ELSE excluded.due_at END`,
  deleteAuditEntries: (pushId: string) => `DELETE FROM audit_entries WHERE push_id = ${pushId}`,
};

/** On SQLite the values are overwritten in place: the same width in the same row moves no bytes (see the schema). */
export const destroySealed = (table: "row_secrets" | "link_secrets", condition: string) => ({
  sqlite: `UPDATE ${table} SET sealed = zeroblob(length(sealed)) WHERE ${condition}`,
  postgres: `DELETE FROM ${table} WHERE ${condition}`,
});
export const destroyRowSecret = sql<[keyId: number]>(destroySealed("row_secrets", "id = ?"));

/** Overwrites the values that rows of another table keep among the row secrets. */
export function destroySecretsOf<Parameters extends readonly Value[]>(rows: string): Statement<Parameters, never> {
  return sql<Parameters>(destroySealed("row_secrets", `id IN (SELECT row_secret_id FROM ${rows})`));
}

const destroyCopies = destroySecretsOf<[pushId: number]>("claim_retries WHERE push_id = ?");
const forgetCopies = sql<[pushId: number]>("UPDATE claim_retries SET row_secret_id = NULL WHERE push_id = ?");
const deleteKeys = sql<[pushId: number]>("DELETE FROM claim_retries WHERE push_id = ?");
/** For a push that has ended: no claim can be counted, so it does not matter which keys were used. */
export const deleteKeysWithoutCopy = sql<[pushId: number]>(
  "DELETE FROM claim_retries WHERE push_id = ? AND row_secret_id IS NULL",
);
const releasePayload = sql<[pushId: number]>("UPDATE pushes SET keeps_payload = 0 WHERE id = ?");
const ticketsOfPush = "download_tickets WHERE push_id = ?";
const ticketsOfFile = `${ticketsOfPush} AND file_id = ?`;
// A sweep skips these rows while they are locked, so that the two do not wait for each other.
const lockTickets = sqlOfLockedRows<[pushId: number], { fileId: number }>(
  `SELECT file_id AS "fileId" FROM ${ticketsOfPush}`,
  "download_tickets",
);
const destroyKeysOfPush = destroySecretsOf<[pushId: number]>(ticketsOfPush);
const deleteTicketsOfPush = sql<[pushId: number]>(`DELETE FROM ${ticketsOfPush}`);
const destroyKeysOfFile = destroySecretsOf<[pushId: number, fileId: number]>(ticketsOfFile);
const deleteTicketsOfFile = sql<[pushId: number, fileId: number]>(`DELETE FROM ${ticketsOfFile}`);
const queueBlobs = sql<[dueAt: number, pushId: number]>(endParts.queueBlobs("?", "?"));
/** For a transaction that has locked the push: no claim is counted meanwhile. */
export const deletePayload = sql<[pushId: number]>(
  `${endParts.deletePayload("?")}
   AND NOT EXISTS (SELECT 1 FROM claim_retries
     WHERE claim_retries.push_id = payloads.push_id AND row_secret_id IS NOT NULL)`,
);
export const deleteAuditEntries = sql<[pushId: number]>(endParts.deleteAuditEntries("?"));

export const takeUpload = sql<[blobKey: string]>("DELETE FROM uploads WHERE blob_key = ?");
const takeResumableUpload = sql<[blobKey: string], { rowSecretId: number }>(
  'DELETE FROM resumable_uploads WHERE blob_key = ? RETURNING row_secret_id AS "rowSecretId"',
);

export const insertPayload = payloads.insert();
export const queueBlob = sql<[blobKey: string]>(
  "INSERT INTO blob_deletions (blob_key, due_at, attempts) VALUES (?, 0, 0) ON CONFLICT (blob_key) DO NOTHING",
);

export interface EndRequest {
  readonly pushId: number;
  readonly reason: EndReason;
  /** For the reason "time" the push ends only if it had expired by then. */
  readonly endedAt: number;
  /** 0: at once, whatever the clock says. */
  readonly blobsDueAt: number;
  readonly audit: AuditRecord | null;
}

/** An upload was swept before its push was written. Undoes the transaction. */
export class UploadSweptError extends Error {
  override readonly name = "UploadSweptError";
}

type Ended = Pick<StoredPush, "rowSecretId" | "ownerId" | "storedBytes">;

const insertFile = files.insert();
const endedColumns = pushes.pick("rowSecretId", "ownerId", "storedBytes").selectList;
const endLive = sql<[endedAt: number, reason: number, updatedAt: number, pushId: number], Ended>(
  `UPDATE pushes SET ended_at = ?, end_reason = ?, updated_at = ?, creator_address = NULL
   WHERE id = ? AND ${liveUntil} IS NOT NULL RETURNING ${endedColumns}`,
);
// Matches no push whose expiry was extended since it was found due.
const endOverdue = sql<[pushId: number, now: number], Ended>(
  `UPDATE pushes SET ended_at = expires_at, end_reason = ${endReasons.time}, updated_at = expires_at, creator_address = NULL
   WHERE id = ? AND ${liveUntil} <= ? RETURNING ${endedColumns}`,
);
// A repetition that waits for this row may still see the copy. The new generation refuses it.
const voidCopies = sql<[pushId: number]>(
  `UPDATE pushes SET seal_generation = seal_generation + 1
   WHERE id = ? AND end_reason IN (${endReasons.views}, ${endReasons.time})`,
);
const hastenBlobs = sql<[pushId: number]>(
  "UPDATE blob_deletions SET due_at = 0 WHERE blob_key IN (SELECT blob_key FROM files WHERE push_id = ?)",
);
const addToTotal = sqlOfSum("UPDATE totals SET bytes = bytes + ? WHERE name = 'live_anonymous'");
const countRefusal = sql<[pushId: number], StoredPush>(
  `UPDATE pushes SET audit_count = audit_count + 1,
     refusals = CASE WHEN refusals < expire_after_views THEN refusals + 1 ELSE expire_after_views END
   WHERE id = ? RETURNING ${readPushes.selectList}`,
);
const countEvent = sql<[pushId: number], Pick<StoredPush, "auditCount" | "ownerId" | "endedAt">>(
  `UPDATE pushes SET audit_count = audit_count + 1 WHERE id = ?
   RETURNING audit_count AS auditCount, owner_id AS ownerId, ended_at AS endedAt`,
);

/** For an edit of the content: no claim may be repeated, and none is counted again under the same key. */
export async function destroyClaimCopies(tx: Transaction, pushId: number): Promise<void> {
  await tx.run(destroyCopies, pushId);
  if ((await tx.run(forgetCopies, pushId)) > 0) await tx.run(releasePayload, pushId);
}

/** For an end by a person: no claim may be repeated. */
export async function destroyClaimKeys(tx: Transaction, pushId: number): Promise<void> {
  await tx.run(destroyCopies, pushId);
  if ((await tx.run(deleteKeys, pushId)) > 0) await tx.run(releasePayload, pushId);
}

/** For an end by a person: no file can be downloaded. @param fileIds only the tickets of these files. */
export async function destroyTickets(tx: Transaction, pushId: number, fileIds?: readonly number[]): Promise<void> {
  const tickets = await tx.all(lockTickets, pushId);
  if (tickets.length === 0) return;
  if (fileIds === undefined) {
    await tx.run(destroyKeysOfPush, pushId);
    await tx.run(deleteTicketsOfPush, pushId);
    return;
  }
  for (const fileId of fileIds) {
    await tx.run(destroyKeysOfFile, pushId, fileId);
    await tx.run(deleteTicketsOfFile, pushId, fileId);
  }
}

/** SQLite updates the total of anonymous pushes with each write. On PostgreSQL these writes would block one another. */
export function addToAnonymous(tx: Transaction, bytes: number): Promise<number> | undefined {
  return capabilitiesOf[tx.engine].storedTotals ? tx.run(addToTotal, bytes) : undefined;
}

interface SecretEnd {
  readonly ended: Ended;
  readonly blobsDueAt: number;
  readonly mayHaveFiles?: boolean;
  /** `removeEndedPayloads` finds and removes it. */
  readonly payloadStays?: boolean;
  readonly mayHaveTrail?: boolean;
}

/** For the transaction that ends the push. Only the row of an anonymous push remains, as its tombstone. */
export async function destroySecret(
  tx: Transaction,
  pushId: number,
  { ended, blobsDueAt, mayHaveFiles = true, payloadStays = false, mayHaveTrail = true }: SecretEnd,
): Promise<void> {
  await tx.run(destroyRowSecret, ended.rowSecretId);
  if (!payloadStays) await tx.run(deletePayload, pushId);
  if (mayHaveFiles) await tx.run(queueBlobs, blobsDueAt, pushId);
  if (ended.ownerId === null) {
    if (mayHaveTrail) await tx.run(deleteAuditEntries, pushId);
    await addToAnonymous(tx, -ended.storedBytes);
  }
}

async function voidEnded(tx: Transaction, pushId: number): Promise<void> {
  if ((await tx.run(voidCopies, pushId)) === 0) return;
  await destroyClaimKeys(tx, pushId);
  await destroyTickets(tx, pushId);
  await tx.run(deletePayload, pushId);
  await tx.run(hastenBlobs, pushId);
}

/**
 * Ends a push. If a limit has ended it already, an end by a person voids its tickets and the claims that could be
 * repeated, and makes its blobs due; its end reason stays.
 * @returns false when the push had ended already, or is not due.
 */
export async function endPush(tx: Transaction, request: EndRequest): Promise<boolean> {
  const { pushId, reason, endedAt } = request;
  const ended =
    reason === "time"
      ? await tx.one(endOverdue, pushId, endedAt)
      : await tx.one(endLive, endedAt, endReasons[reason], endedAt, pushId);
  if (ended === undefined) {
    if (reason !== "time") await voidEnded(tx, pushId);
    return false;
  }
  if (reason === "time") {
    await tx.run(deleteKeysWithoutCopy, pushId);
  } else {
    await destroyClaimKeys(tx, pushId);
    await destroyTickets(tx, pushId);
  }
  await destroySecret(tx, pushId, { ended, blobsDueAt: request.blobsDueAt });
  if (request.audit !== null && ended.ownerId !== null) await recordEvent(tx, pushId, request.audit);
  return true;
}

export async function recordEvent(tx: Transaction, pushId: number, audit: AuditRecord): Promise<void> {
  const counted = await tx.one(countEvent, pushId);
  if (counted !== undefined && keepsTrail(counted)) await writeEntry(tx, pushId, counted.auditCount, audit);
}

/** Counts and logs a refused retrieval of an ended push. @returns the push afterwards. */
export async function recordRefusal(tx: Transaction, pushId: number, audit: AuditRecord): Promise<PushRow | undefined> {
  const stored = await tx.one(countRefusal, pushId);
  if (stored === undefined) return undefined;
  if (keepsTrail(stored)) await writeEntry(tx, pushId, stored.auditCount, audit);
  return readPushes.decode(stored);
}

/** Inserts files of a push and takes over their uploads, whose addresses open nothing from then on. @throws UploadSweptError. */
export async function insertFiles(tx: Transaction, pushId: number, added: readonly FileRow[]): Promise<void> {
  for (const file of added) {
    if ((await tx.run(takeUpload, file.blobKey)) !== 1) throw new UploadSweptError();
    const resumable = await tx.one(takeResumableUpload, file.blobKey);
    if (resumable !== undefined) await tx.run(destroyRowSecret, resumable.rowSecretId);
    await tx.run(insertFile, ...files.values({ ...file, pushId }));
  }
}

/** An anonymous push that has ended keeps no audit trail. */
export function keepsTrail(push: Pick<StoredPush, "ownerId" | "endedAt">): boolean {
  return push.ownerId !== null || push.endedAt === null;
}

/** The assignments that update a folded entry with the values of its latest event. */
export const countOntoEntry = (columns: readonly string[]) =>
  `ON CONFLICT (push_id, sequence) DO UPDATE SET times = audit_entries.times + 1, ${columns
    .map((column) => `${column} = excluded.${column}`)
    .join(", ")}`;
export const latestEventColumns = ["user_id", "address", "user_agent", "referrer", "updated_at"];

const insertEntry = auditEntries.insert(countOntoEntry(latestEventColumns));

/** For the transaction that has counted the event. @param count events of the push so far, including this one. */
export async function writeEntry(tx: Transaction, pushId: number, count: number, audit: AuditRecord): Promise<void> {
  const { kind, userId, address, userAgent, referrer, at } = audit;
  const sequence = folds(kind, count) ? foldedSequence(kind) : count;
  const entry = { pushId, sequence, kind, userId, address, userAgent, referrer, createdAt: at, updatedAt: at };
  await tx.run(insertEntry, ...auditEntries.values(entry));
}
