import type { Database } from "../../db/sqlite.ts";
import { type AuditRecord, auditKinds, folds } from "../audit-trail.ts";
import type { EndRequest, NewPush, PushRow, ViewClaim } from "../store.ts";
import { endReasons, kindNames, pushColumns, type RawPush, toPushRow } from "./rows.ts";

/** Steps that run inside a unit of `db.write`; none of them is a transaction of its own. */
export interface Steps {
  insert(push: NewPush, audit: AuditRecord): void;
  claimView(claim: ViewClaim): PushRow | undefined;
  end(request: EndRequest): boolean;
  recordRefusal(pushId: number, audit: AuditRecord): PushRow | undefined;
  record(pushId: number, audit: AuditRecord): void;
}

/** An upload that was swept before its push was written; undoes the unit. */
export class UploadSweptError extends Error {
  override readonly name = "UploadSweptError";
}

type Ended = Pick<RawPush, "dataKeyId" | "ownerId" | "storedBytes">;

const endViews = endReasons.indexOf("views");
const endTime = endReasons.indexOf("time");

export function prepareSteps(db: Database, onKeyOverwritten: () => void): Steps {
  const writer = db.writer;
  const insertKey = writer.prepare("INSERT INTO data_keys (sealed) VALUES (?)");
  const insertPush = writer.prepare(
    `INSERT INTO pushes (id, token_digest, kind, owner_id, created_at, updated_at, expires_at, expire_after_days,
       expire_after_views, views, refusals, audit_count, deletable_by_viewer, retrieval_step, seal_generation, data_key_id,
       stored_bytes, link_salt, passphrase_salt, token_sealed, name_sealed, note_sealed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertPayload = writer.prepare("INSERT INTO payloads (push_id, sealed) VALUES (?, ?)");
  const takeUpload = writer.prepare("DELETE FROM uploads WHERE blob_key = ?");
  const insertFile = writer.prepare(
    "INSERT INTO files (id, push_id, blob_key, size_bytes, details_sealed) VALUES (?, ?, ?, ?, ?)",
  );
  // The guard. An ended push matches nothing, so of any number of racers exactly `expire_after_views` get through.
  const guard = "id = ? AND ended_at IS NULL AND expires_at > ? AND views < expire_after_views AND seal_generation = ?";
  const countView = writer.prepare<[number, number, number, number, number], RawPush>(
    `UPDATE pushes SET views = views + 1, audit_count = audit_count + 1,
       ended_at = CASE WHEN views + 1 >= expire_after_views THEN ? END,
       end_reason = CASE WHEN views + 1 >= expire_after_views THEN ${endViews} END,
       updated_at = CASE WHEN views + 1 >= expire_after_views THEN ? ELSE updated_at END
     WHERE ${guard} RETURNING ${pushColumns}`,
  );
  const logView = writer.prepare<[number, number, number], RawPush>(
    `UPDATE pushes SET audit_count = audit_count + 1 WHERE ${guard} RETURNING ${pushColumns}`,
  );
  const endedColumns = "data_key_id AS dataKeyId, owner_id AS ownerId, stored_bytes AS storedBytes";
  const endPush = writer.prepare<[number, number, number, number], Ended>(
    `UPDATE pushes SET ended_at = ?, end_reason = ?, updated_at = ? WHERE id = ? AND ended_at IS NULL RETURNING ${endedColumns}`,
  );
  // A push whose time was extended since it was found due is not.
  const endOverdue = writer.prepare<[number, number], Ended>(
    `UPDATE pushes SET ended_at = expires_at, end_reason = ${endTime}, updated_at = expires_at
     WHERE id = ? AND ended_at IS NULL AND expires_at <= ? RETURNING ${endedColumns}`,
  );
  const addToTotal = writer.prepare("UPDATE totals SET bytes = bytes + ? WHERE name = 'live_anonymous'");
  // In place: the same width on the same row moves nothing (see the schema).
  const overwriteKey = writer.prepare("UPDATE data_keys SET sealed = zeroblob(length(sealed)) WHERE id = ?");
  const deletePayload = writer.prepare("DELETE FROM payloads WHERE push_id = ?");
  const queueBlobs = writer.prepare(
    `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, ?, 0 FROM files WHERE push_id = ?
     ON CONFLICT (blob_key) DO UPDATE SET due_at = MIN(due_at, excluded.due_at)`,
  );
  const deleteAudit = writer.prepare("DELETE FROM audit_entries WHERE push_id = ?");
  const countRefusal = writer.prepare<[number], RawPush>(
    `UPDATE pushes SET refusals = MIN(refusals + 1, expire_after_views), audit_count = audit_count + 1
     WHERE id = ? RETURNING ${pushColumns}`,
  );
  const countEvent = writer.prepare<[number], Pick<RawPush, "auditCount" | "ownerId" | "endedAt">>(
    `UPDATE pushes SET audit_count = audit_count + 1 WHERE id = ?
     RETURNING audit_count AS auditCount, owner_id AS ownerId, ended_at AS endedAt`,
  );
  const insertEntry = writer.prepare(
    `INSERT INTO audit_entries (push_id, sequence, kind, user_id, address, user_agent, referrer, times, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
     ON CONFLICT (push_id, sequence) DO UPDATE SET times = times + 1, user_id = excluded.user_id, address = excluded.address,
       user_agent = excluded.user_agent, referrer = excluded.referrer, updated_at = excluded.updated_at`,
  );

  function writeEntry(pushId: number, count: number, audit: AuditRecord): void {
    const kind = auditKinds.indexOf(audit.kind);
    const sequence = folds(audit.kind, count) ? -(kind + 1) : count;
    insertEntry.run(
      pushId,
      sequence,
      kind,
      audit.userId,
      audit.address,
      audit.userAgent,
      audit.referrer,
      audit.at,
      audit.at,
    );
  }

  /** The secret goes with the transaction that ends the push; of an anonymous push only the tombstone row stays. */
  function destroySecret(pushId: number, ended: Ended, blobsDueAt: number): void {
    overwriteKey.run(ended.dataKeyId);
    deletePayload.run(pushId);
    queueBlobs.run(blobsDueAt, pushId);
    if (ended.ownerId === null) {
      deleteAudit.run(pushId);
      addToTotal.run(-ended.storedBytes);
    }
    onKeyOverwritten();
  }

  const auditedAfterEnd = (push: Pick<RawPush, "ownerId" | "endedAt">) =>
    push.ownerId !== null || push.endedAt === null;

  return {
    insert(push, audit) {
      const { row } = push;
      const dataKeyId = insertKey.run(push.dataKeySealed).lastInsertRowid;
      insertPush.run(
        row.id,
        push.tokenDigest,
        kindNames.indexOf(row.kind),
        row.ownerId,
        row.createdAt,
        row.updatedAt,
        row.expiresAt,
        row.expireAfterDays,
        row.expireAfterViews,
        row.deletableByViewer ? 1 : 0,
        row.retrievalStep ? 1 : 0,
        row.sealGeneration,
        dataKeyId,
        push.storedBytes,
        row.linkSalt,
        row.passphraseSalt,
        row.tokenSealed,
        row.nameSealed,
        row.noteSealed,
      );
      if (row.ownerId === null) addToTotal.run(push.storedBytes);
      insertPayload.run(row.id, push.payloadSealed);
      for (const file of push.files) {
        if (takeUpload.run(file.blobKey).changes !== 1) throw new UploadSweptError();
        insertFile.run(file.id, row.id, file.blobKey, file.sizeBytes, file.detailsSealed);
      }
      writeEntry(row.id, 1, audit);
    },
    claimView(claim) {
      const { pushId, now, sealGeneration } = claim;
      const raw = claim.counted
        ? countView.get(now, now, pushId, now, sealGeneration)
        : logView.get(pushId, now, sealGeneration);
      if (raw === undefined) return undefined;
      if (raw.endedAt !== null) destroySecret(pushId, raw, claim.blobsDueAt);
      if (auditedAfterEnd(raw)) writeEntry(pushId, raw.auditCount, claim.audit);
      return toPushRow(raw);
    },
    end(request) {
      const { pushId, reason, endedAt } = request;
      const ended =
        reason === "time"
          ? endOverdue.get(pushId, endedAt)
          : endPush.get(endedAt, endReasons.indexOf(reason), endedAt, pushId);
      if (ended === undefined) return false;
      destroySecret(pushId, ended, request.blobsDueAt);
      if (request.audit !== null && ended.ownerId !== null) this.record(pushId, request.audit);
      return true;
    },
    recordRefusal(pushId, audit) {
      const raw = countRefusal.get(pushId);
      if (raw === undefined) return undefined;
      if (auditedAfterEnd(raw)) writeEntry(pushId, raw.auditCount, audit);
      return toPushRow(raw);
    },
    record(pushId, audit) {
      const counted = countEvent.get(pushId);
      if (counted !== undefined && auditedAfterEnd(counted)) writeEntry(pushId, counted.auditCount, audit);
    },
  };
}
