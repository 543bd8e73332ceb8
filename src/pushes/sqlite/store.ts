import type { Database } from "../../db/sqlite.ts";
import { auditKinds } from "../audit-trail.ts";
import type { FileRow, PushStore, SealedPush } from "../store.ts";
import { prepareChange } from "./editing.ts";
import { prepareLists } from "./lists.ts";
import { auditColumns, pushColumns, type RawAuditEntry, type RawPush, toAuditEntry, toPushRow } from "./rows.ts";
import { prepareSurveys } from "./survey.ts";
import { prepareUpkeep } from "./upkeep.ts";
import { prepareSteps, UploadSweptError } from "./writing.ts";

type RawSealed = RawPush & Pick<SealedPush, "dataKeySealed" | "payloadSealed"> & { readonly hasFiles: number };

/** `onKeyOverwritten`: called inside the transaction that overwrites a data key; the log should be cut soon after. */
export function createSqlitePushStore(db: Database, onKeyOverwritten: () => void): PushStore {
  const { reader, writer } = db;
  const steps = prepareSteps(db, onKeyOverwritten);
  const change = prepareChange(db, steps, onKeyOverwritten);
  const byDigest = reader.prepare<[Buffer], RawPush>(`SELECT ${pushColumns} FROM pushes WHERE token_digest = ?`);
  const byId = reader.prepare<[number], RawPush>(`SELECT ${pushColumns} FROM pushes WHERE id = ?`);
  // Looked up apart, not joined: with a joined table SQLite plans the whole statement anew at every execution, since the
  // bound digest might make a partial index fit. That cost seven times as much as the reading.
  const sealedByDigest = db.prepareHotRead<[Buffer], RawSealed>(
    `SELECT ${pushColumns},
       (SELECT sealed FROM data_keys WHERE id = pushes.data_key_id AND pushes.ended_at IS NULL) AS dataKeySealed,
       (SELECT sealed FROM payloads WHERE push_id = pushes.id) AS payloadSealed,
       EXISTS (SELECT 1 FROM files WHERE push_id = pushes.id) AS hasFiles
     FROM pushes WHERE token_digest = ?`,
  );
  const files = reader.prepare<[number], FileRow>(
    `SELECT id, blob_key AS blobKey, size_bytes AS sizeBytes, details_sealed AS detailsSealed, key_sealed AS keySealed
     FROM files WHERE push_id = ? ORDER BY id`,
  );
  const listed = (condition: string) =>
    reader.prepare<[number, number, number, number], RawPush>(
      `SELECT ${pushColumns} FROM pushes WHERE owner_id = ? AND (${condition})
       ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
    );
  const lists = {
    active: listed("ended_at IS NULL AND expires_at > ?"),
    expired: listed("ended_at IS NOT NULL OR expires_at <= ?"),
  };
  const auditOf = reader.prepare<[number, number, number], RawAuditEntry>(
    `SELECT ${auditColumns} FROM audit_entries WHERE push_id = ?
     ORDER BY updated_at DESC, sequence DESC LIMIT ? OFFSET ?`,
  );
  const download = reader.prepare<[number, number, string, number], { sequence: number }>(
    "SELECT sequence FROM audit_entries WHERE push_id = ? AND kind = ? AND address = ? AND updated_at >= ? LIMIT 1",
  );
  const addUpload = writer.prepare("INSERT INTO uploads (blob_key, anonymous_bytes, renewed_at) VALUES (?, 0, ?)");
  const renewUpload = writer.prepare("UPDATE uploads SET anonymous_bytes = ?, renewed_at = ? WHERE blob_key = ?");
  const takeUpload = writer.prepare("DELETE FROM uploads WHERE blob_key = ?");
  const queueBlob = writer.prepare(
    "INSERT INTO blob_deletions (blob_key, due_at, attempts) VALUES (?, 0, 0) ON CONFLICT (blob_key) DO NOTHING",
  );

  return {
    async insert(push, audit) {
      try {
        await db.write(() => steps.insert(push, audit));
        return true;
      } catch (error) {
        if (error instanceof UploadSweptError) return false;
        throw error;
      }
    },
    async find(tokenDigest) {
      const raw = byDigest.get(tokenDigest);
      return raw === undefined ? undefined : toPushRow(raw);
    },
    async findById(pushId) {
      const raw = byId.get(pushId);
      return raw === undefined ? undefined : toPushRow(raw);
    },
    async findSealed(tokenDigest) {
      const raw = await sealedByDigest(tokenDigest);
      if (raw === undefined) return undefined;
      const { dataKeySealed, payloadSealed, hasFiles } = raw;
      return { row: toPushRow(raw), dataKeySealed, payloadSealed, hasFiles: hasFiles === 1 };
    },
    files: async (pushId) => files.all(pushId),
    claimView: (claim) => db.write(() => steps.claimView(claim)),
    async change(request, audit) {
      try {
        const row = await db.write(() => change(request, audit));
        return row === undefined ? { outcome: "refused" } : { outcome: "changed", row };
      } catch (error) {
        if (error instanceof UploadSweptError) return { outcome: "upload_swept" };
        throw error;
      }
    },
    end: (request) => db.write(() => steps.end(request)),
    recordRefusal: (pushId, audit) => db.write(() => steps.recordRefusal(pushId, audit)),
    record: (pushId, audit) => db.write(() => steps.record(pushId, audit)),
    hasDownload: async (pushId, address, since) =>
      download.get(pushId, auditKinds.indexOf("download"), address, since) !== undefined,
    list: async (ownerId, state, now, limit, offset) => lists[state].all(ownerId, now, limit, offset).map(toPushRow),
    audit: async (pushId, limit, offset) => auditOf.all(pushId, limit, offset).map(toAuditEntry),
    addUpload: (blobKey, now) =>
      db.write(() => {
        addUpload.run(blobKey, now);
      }),
    renewUploads: (uploads, now) =>
      db.write(() => {
        const renewed = uploads.filter(
          (upload) => renewUpload.run(upload.anonymousBytes, now, upload.blobKey).changes > 0,
        );
        return renewed.length === uploads.length;
      }),
    abandonUploads: (blobKeys) =>
      db.write(() => {
        for (const blobKey of blobKeys) {
          if (takeUpload.run(blobKey).changes === 1) queueBlob.run(blobKey);
        }
      }),
    lists: prepareLists(db),
    surveys: prepareSurveys(db),
    upkeep: prepareUpkeep(db, steps),
  };
}
