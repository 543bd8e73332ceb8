import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit-trail.ts";
import type { FileRow, PushRow } from "../push-row.ts";
import type { EndRequest, NewPush, ViewClaim } from "../store.ts";
import { writeEntry } from "./entries.ts";
import { endReasons, kindNames, pushColumns, type RawPush, toPushRow } from "./rows.ts";
import {
  deleteAuditEntries,
  deletePayload,
  destroyDataKey,
  insertDataKey,
  insertPayload,
  takeUpload,
} from "./statements.ts";
import { noteView } from "./view-notifications.ts";

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

type Ended = Pick<RawPush, "dataKeyId" | "ownerId" | "storedBytes">;

const endViews = endReasons.indexOf("views");
const endTime = endReasons.indexOf("time");

const pushWithKey = (dataKeyId: string) =>
  `INSERT INTO pushes (id, token_digest, kind, owner_id, created_at, updated_at, expires_at, expire_after_days,
     expire_after_views, views, refusals, audit_count, deletable_by_viewer, retrieval_step, notify_on_view, seal_generation,
     data_key_id, stored_bytes, link_salt, passphrase_salt, token_sealed, name_sealed, note_sealed)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, ?, ?, ?, ?, ${dataKeyId}, ?, ?, ?, ?, ?, ?)`;
/** On SQLite, the key that was written just before is its own. */
const insertPush = sql<(number | Buffer | null)[]>({
  sqlite: pushWithKey("coalesce(?, last_insert_rowid())"),
  postgres: pushWithKey("?"),
});
const insertFile = sql<[id: number, pushId: number, blobKey: string, sizeBytes: number, detailsSealed: Buffer]>(
  "INSERT INTO files (id, push_id, blob_key, size_bytes, details_sealed) VALUES (?, ?, ?, ?, ?)",
);
// The guard. An ended push matches nothing, so of any number of racers exactly `expire_after_views` get through.
const guard = "id = ? AND ended_at IS NULL AND expires_at > ? AND views < expire_after_views AND seal_generation = ?";
const countView = sql<
  [endedAt: number, updatedAt: number, pushId: number, now: number, sealGeneration: number],
  RawPush
>(
  `UPDATE pushes SET views = views + 1, audit_count = audit_count + 1,
     ended_at = CASE WHEN views + 1 >= expire_after_views THEN CAST(? AS BIGINT) END,
     end_reason = CASE WHEN views + 1 >= expire_after_views THEN ${endViews} END,
     updated_at = CASE WHEN views + 1 >= expire_after_views THEN ? ELSE updated_at END
   WHERE ${guard} RETURNING ${pushColumns}`,
);
const logView = sql<[pushId: number, now: number, sealGeneration: number], RawPush>(
  `UPDATE pushes SET audit_count = audit_count + 1 WHERE ${guard} RETURNING ${pushColumns}`,
);
const endedColumns = "data_key_id AS dataKeyId, owner_id AS ownerId, stored_bytes AS storedBytes";
const endPush = sql<[endedAt: number, reason: number, updatedAt: number, pushId: number], Ended>(
  `UPDATE pushes SET ended_at = ?, end_reason = ?, updated_at = ? WHERE id = ? AND ended_at IS NULL RETURNING ${endedColumns}`,
);
// A push whose time was extended since it was found due is not.
const endOverdue = sql<[pushId: number, now: number], Ended>(
  `UPDATE pushes SET ended_at = expires_at, end_reason = ${endTime}, updated_at = expires_at
   WHERE id = ? AND ended_at IS NULL AND expires_at <= ? RETURNING ${endedColumns}`,
);
const queueBlobs = sql<[dueAt: number, pushId: number]>(
  `INSERT INTO blob_deletions (blob_key, due_at, attempts)
   SELECT blob_key, CAST(? AS BIGINT), 0 FROM files WHERE push_id = ?
   ON CONFLICT (blob_key) DO UPDATE SET due_at =
     CASE WHEN blob_deletions.due_at < excluded.due_at THEN blob_deletions.due_at ELSE excluded.due_at END`,
);
export const addToTotal = sql<[bytes: number]>("UPDATE totals SET bytes = bytes + ? WHERE name = 'live_anonymous'");
const countRefusal = sql<[pushId: number], RawPush>(
  `UPDATE pushes SET audit_count = audit_count + 1,
     refusals = CASE WHEN refusals < expire_after_views THEN refusals + 1 ELSE expire_after_views END
   WHERE id = ? RETURNING ${pushColumns}`,
);
const countEvent = sql<[pushId: number], Pick<RawPush, "auditCount" | "ownerId" | "endedAt">>(
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
      const dataKeyId = engine === "sqlite" ? null : row.id;
      await tx.run(insertDataKey, dataKeyId, push.dataKeySealed);
      await tx.run(insertPush, ...pushValues(push, dataKeyId));
      if (row.ownerId === null) await addToAnonymous(tx, push.storedBytes);
      await tx.run(insertPayload, row.id, push.payloadSealed);
      await insertFiles(tx, row.id, push.files);
      await writeEntry(tx, row.id, 1, audit);
    },
    async claimView(tx, claim) {
      const { pushId, now, sealGeneration } = claim;
      const raw = claim.counted
        ? await tx.one(countView, now, now, pushId, now, sealGeneration)
        : await tx.one(logView, pushId, now, sealGeneration);
      if (raw === undefined) return undefined;
      if (raw.endedAt !== null) await destroySecret(tx, pushId, raw, claim.blobsDueAt);
      if (auditedAfterEnd(raw)) await writeEntry(tx, pushId, raw.auditCount, claim.audit);
      // A view's entry is never folded: its sequence is the count.
      if (claim.counted && claim.byAnother && raw.notifyOnView === 1) await tx.run(noteView, pushId, raw.auditCount);
      return toPushRow(raw);
    },
    async end(tx, request) {
      const { pushId, reason, endedAt } = request;
      const ended =
        reason === "time"
          ? await tx.one(endOverdue, pushId, endedAt)
          : await tx.one(endPush, endedAt, endReasons.indexOf(reason), endedAt, pushId);
      if (ended === undefined) return false;
      await destroySecret(tx, pushId, ended, request.blobsDueAt);
      if (request.audit !== null && ended.ownerId !== null) await record(tx, pushId, request.audit);
      return true;
    },
    async recordRefusal(tx, pushId, audit) {
      const raw = await tx.one(countRefusal, pushId);
      if (raw === undefined) return undefined;
      if (auditedAfterEnd(raw)) await writeEntry(tx, pushId, raw.auditCount, audit);
      return toPushRow(raw);
    },
  };
}

/** Those of a new push, which takes their uploads over. @throws UploadSweptError. */
export async function insertFiles(tx: Transaction, pushId: number, files: readonly FileRow[]): Promise<void> {
  for (const file of files) {
    if ((await tx.run(takeUpload, file.blobKey)) !== 1) throw new UploadSweptError();
    await tx.run(insertFile, file.id, pushId, file.blobKey, file.sizeBytes, file.detailsSealed);
  }
}

function auditedAfterEnd(push: Pick<RawPush, "ownerId" | "endedAt">): boolean {
  return push.ownerId !== null || push.endedAt === null;
}

/** In the order of the columns that a new push's row is written in. */
export function pushValues(
  { row, tokenDigest, storedBytes }: NewPush,
  dataKeyId: number | null,
): (number | Buffer | null)[] {
  return [
    row.id,
    tokenDigest,
    kindNames.indexOf(row.kind),
    row.ownerId,
    row.createdAt,
    row.updatedAt,
    row.expiresAt,
    row.expireAfterDays,
    row.expireAfterViews,
    row.deletableByViewer ? 1 : 0,
    row.retrievalStep ? 1 : 0,
    row.notifyOnView ? 1 : 0,
    row.sealGeneration,
    dataKeyId,
    storedBytes,
    row.linkSalt,
    row.passphraseSalt,
    row.tokenSealed,
    row.nameSealed,
    row.noteSealed,
  ];
}
