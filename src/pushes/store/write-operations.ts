import type { Database, Transaction } from "../../database/database.ts";
import { type DriverRow, type Statement, sql, type Value } from "../../database/statement.ts";
import { type AuditRecord, foldedSequence, folds } from "../audit/audit-trail.ts";
import { endReasons } from "../push.ts";
import type { EndRequest, NewPush, ViewClaim } from "../store.ts";
import { noteView } from "./notifications.ts";
import {
  auditEntries,
  type FileRow,
  files,
  type PushRow,
  payloads,
  pushes,
  readPushes,
  type StoredPush,
} from "./tables.ts";

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

/** Steps that run inside a transaction of `db.write`; none of them is a transaction of its own. */
export interface Steps {
  insert(tx: Transaction, push: NewPush, audit: AuditRecord): Promise<void>;
  claimView(tx: Transaction, claim: ViewClaim): Promise<PushRow | undefined>;
  end(tx: Transaction, request: EndRequest): Promise<boolean>;
  recordRefusal(tx: Transaction, pushId: number, audit: AuditRecord): Promise<PushRow | undefined>;
  record(tx: Transaction, pushId: number, audit: AuditRecord): Promise<void>;
}

/** An upload that was swept before its push was written; undoes the transaction. */
export class UploadSweptError extends Error {
  override readonly name = "UploadSweptError";
}

type Ended = Pick<StoredPush, "dataKeyId" | "ownerId" | "storedBytes">;

const insertPush = pushes.insert();
const insertFile = files.insert();
// The guard. An ended push matches nothing, so of any number of racers exactly `expire_after_views` get through.
const guard = "id = ? AND ended_at IS NULL AND expires_at > ? AND views < expire_after_views AND seal_generation = ?";
const countView = sql<
  [endedAt: number, updatedAt: number, pushId: number, now: number, sealGeneration: number],
  StoredPush
>(
  `UPDATE pushes SET views = views + 1, audit_count = audit_count + 1,
     ended_at = CASE WHEN views + 1 >= expire_after_views THEN CAST(? AS BIGINT) END,
     end_reason = CASE WHEN views + 1 >= expire_after_views THEN ${endReasons.views} END,
     updated_at = CASE WHEN views + 1 >= expire_after_views THEN ? ELSE updated_at END
   WHERE ${guard} RETURNING ${readPushes.selectList}`,
);
const logView = sql<[pushId: number, now: number, sealGeneration: number], StoredPush>(
  `UPDATE pushes SET audit_count = audit_count + 1 WHERE ${guard} RETURNING ${readPushes.selectList}`,
);
const endedColumns = pushes.pick("dataKeyId", "ownerId", "storedBytes").selectList;
const endPush = sql<[endedAt: number, reason: number, updatedAt: number, pushId: number], Ended>(
  `UPDATE pushes SET ended_at = ?, end_reason = ?, updated_at = ? WHERE id = ? AND ended_at IS NULL RETURNING ${endedColumns}`,
);
// A push whose time was extended since it was found due is not.
const endOverdue = sql<[pushId: number, now: number], Ended>(
  `UPDATE pushes SET ended_at = expires_at, end_reason = ${endReasons.time}, updated_at = expires_at
   WHERE id = ? AND ended_at IS NULL AND expires_at <= ? RETURNING ${endedColumns}`,
);
const queueBlobs = sql<[dueAt: number, pushId: number]>(
  `INSERT INTO blob_deletions (blob_key, due_at, attempts)
   SELECT blob_key, CAST(? AS BIGINT), 0 FROM files WHERE push_id = ?
   ON CONFLICT (blob_key) DO UPDATE SET due_at =
     CASE WHEN blob_deletions.due_at < excluded.due_at THEN blob_deletions.due_at ELSE excluded.due_at END`,
);
export const addToTotal = sql<[bytes: number]>("UPDATE totals SET bytes = bytes + ? WHERE name = 'live_anonymous'");
const countRefusal = sql<[pushId: number], StoredPush>(
  `UPDATE pushes SET audit_count = audit_count + 1,
     refusals = CASE WHEN refusals < expire_after_views THEN refusals + 1 ELSE expire_after_views END
   WHERE id = ? RETURNING ${readPushes.selectList}`,
);
const countEvent = sql<[pushId: number], Pick<StoredPush, "auditCount" | "ownerId" | "endedAt">>(
  `UPDATE pushes SET audit_count = audit_count + 1 WHERE id = ?
   RETURNING audit_count AS auditCount, owner_id AS ownerId, ended_at AS endedAt`,
);

export function createSteps(db: Pick<Database, "engine" | "keyDestroyed">): Steps {
  const { engine } = db;

  /** SQLite keeps what anonymous pushes hold in step with each write; PostgreSQL's writes would wait for one another. */
  async function addToAnonymous(tx: Transaction, bytes: number): Promise<void> {
    if (engine === "sqlite") await tx.run(addToTotal, bytes);
  }

  /** The secret goes with the transaction that ends the push; of an anonymous push only the tombstone row stays. */
  async function destroySecret(tx: Transaction, pushId: number, ended: Ended, blobsDueAt: number): Promise<void> {
    await tx.run(destroyDataKey, ended.dataKeyId);
    await tx.run(deletePayload, pushId);
    await tx.run(queueBlobs, blobsDueAt, pushId);
    if (ended.ownerId === null) {
      await tx.run(deleteAuditEntries, pushId);
      await addToAnonymous(tx, -ended.storedBytes);
    }
    db.keyDestroyed();
  }

  async function record(tx: Transaction, pushId: number, audit: AuditRecord): Promise<void> {
    const counted = await tx.one(countEvent, pushId);
    if (counted !== undefined && auditedAfterEnd(counted)) await writeEntry(tx, pushId, counted.auditCount, audit);
  }

  return {
    record,
    async insert(tx, push, audit) {
      const { row } = push;
      const dataKeyId = await writeDataKey(tx, engine, row.id, push.dataKeySealed);
      await tx.run(insertPush, ...pushValues(push, dataKeyId));
      if (row.ownerId === null) await addToAnonymous(tx, push.storedBytes);
      await tx.run(insertPayload, ...payloads.values({ pushId: row.id, sealed: push.payloadSealed }));
      await insertFiles(tx, row.id, push.files);
      await writeEntry(tx, row.id, 1, audit);
    },
    async claimView(tx, claim) {
      const { pushId, now, sealGeneration } = claim;
      const stored = claim.counted
        ? await tx.one(countView, now, now, pushId, now, sealGeneration)
        : await tx.one(logView, pushId, now, sealGeneration);
      if (stored === undefined) return undefined;
      const row = readPushes.decode(stored);
      if (row.endedAt !== null) await destroySecret(tx, pushId, row, claim.blobsDueAt);
      if (auditedAfterEnd(row)) await writeEntry(tx, pushId, row.auditCount, claim.audit);
      // A view's entry is never folded: its sequence is the count.
      if (claim.counted && claim.byAnother && row.notifyOnView) await tx.run(noteView, pushId, row.auditCount);
      return row;
    },
    async end(tx, request) {
      const { pushId, reason, endedAt } = request;
      const ended =
        reason === "time"
          ? await tx.one(endOverdue, pushId, endedAt)
          : await tx.one(endPush, endedAt, endReasons[reason], endedAt, pushId);
      if (ended === undefined) return false;
      await destroySecret(tx, pushId, ended, request.blobsDueAt);
      if (request.audit !== null && ended.ownerId !== null) await record(tx, pushId, request.audit);
      return true;
    },
    async recordRefusal(tx, pushId, audit) {
      const raw = await tx.one(countRefusal, pushId);
      if (raw === undefined) return undefined;
      if (auditedAfterEnd(raw)) await writeEntry(tx, pushId, raw.auditCount, audit);
      return readPushes.decode(raw);
    },
  };
}

/** Those of a new push, which takes their uploads over. @throws UploadSweptError. */
export async function insertFiles(tx: Transaction, pushId: number, added: readonly FileRow[]): Promise<void> {
  for (const file of added) {
    if ((await tx.run(takeUpload, file.blobKey)) !== 1) throw new UploadSweptError();
    await tx.run(insertFile, ...files.values({ ...file, pushId }));
  }
}

function auditedAfterEnd(push: Pick<StoredPush, "ownerId" | "endedAt">): boolean {
  return push.ownerId !== null || push.endedAt === null;
}

export function pushValues({ row, tokenDigest, storedBytes }: NewPush, dataKeyId: number): Value[] {
  return pushes.values({ ...row, tokenDigest, storedBytes, dataKeyId });
}

const insertEntry = auditEntries.insert(
  `ON CONFLICT (push_id, sequence) DO UPDATE SET times = audit_entries.times + 1, user_id = excluded.user_id,
     address = excluded.address, user_agent = excluded.user_agent, referrer = excluded.referrer,
     updated_at = excluded.updated_at`,
);

/** In the transaction that has counted it. @param count events of the push so far, this one included. */
export async function writeEntry(tx: Transaction, pushId: number, count: number, audit: AuditRecord): Promise<void> {
  const { kind, userId, address, userAgent, referrer, at } = audit;
  const sequence = folds(kind, count) ? foldedSequence(kind) : count;
  const entry = { pushId, sequence, kind, userId, address, userAgent, referrer, createdAt: at, updatedAt: at };
  await tx.run(insertEntry, ...auditEntries.values(entry));
}
