import type { Database } from "../../db/sqlite.ts";
import type { AuditRecord } from "../audit-trail.ts";
import type { ContentChange, PushChange, PushRow } from "../store.ts";
import { pushColumns, type RawPush, toPushRow } from "./rows.ts";
import { type Steps, UploadSweptError } from "./writing.ts";

/** @returns the step that runs inside a unit of `db.write`. It gives undefined when the guard let nothing through. */
export function prepareChange(
  db: Database,
  steps: Steps,
  onKeyOverwritten: () => void,
): (change: PushChange, audit: AuditRecord) => PushRow | undefined {
  const writer = db.writer;
  // The guard: of an edit and whatever races with it, one finds the row as it read it. Views used stay below the limit.
  const changePush = writer.prepare<(number | Buffer | null)[], { dataKeyId: number }>(
    `UPDATE pushes SET updated_at = ?, seal_generation = seal_generation + ?,
       expires_at = coalesce(?, expires_at), expire_after_days = coalesce(?, expire_after_days),
       expire_after_views = coalesce(?, expire_after_views),
       deletable_by_viewer = coalesce(?, deletable_by_viewer), retrieval_step = coalesce(?, retrieval_step),
       name_sealed = CASE ? WHEN 1 THEN ? ELSE name_sealed END, note_sealed = CASE ? WHEN 1 THEN ? ELSE note_sealed END
     WHERE id = ? AND owner_id = ? AND ended_at IS NULL AND seal_generation = ? AND expires_at > ?
       AND coalesce(?, expires_at) > ? AND views < coalesce(?, expire_after_views)
     RETURNING data_key_id AS dataKeyId`,
  );
  const writeContent = prepareContentChange(writer, onKeyOverwritten);
  const readPush = writer.prepare<[number], RawPush>(`SELECT ${pushColumns} FROM pushes WHERE id = ?`);

  const flag = (value: boolean | undefined) => (value === undefined ? null : Number(value));

  return (change, audit) => {
    const { pushId, expiry, expireAfterViews = null, name, note, content, now } = change;
    const expiresAt = expiry?.expiresAt ?? null;
    const changed = changePush.get(
      now,
      content === undefined ? 0 : 1,
      expiresAt,
      expiry?.expireAfterDays ?? null,
      expireAfterViews,
      flag(change.deletableByViewer),
      flag(change.retrievalStep),
      flag(name !== undefined),
      name?.sealed ?? null,
      flag(note !== undefined),
      note?.sealed ?? null,
      pushId,
      change.ownerId,
      change.sealGeneration,
      now,
      expiresAt,
      now,
      expireAfterViews,
    );
    if (changed === undefined) return undefined;
    if (content !== undefined) writeContent(pushId, changed.dataKeyId, content);
    steps.record(pushId, audit);
    const raw = readPush.get(pushId);
    return raw === undefined ? undefined : toPushRow(raw);
  };
}

function prepareContentChange(
  writer: Database["writer"],
  onKeyOverwritten: () => void,
): (pushId: number, dataKeyId: number, content: ContentChange) => void {
  const changeSeals = writer.prepare(
    "UPDATE pushes SET link_salt = ?, passphrase_salt = ?, stored_bytes = ? WHERE id = ?",
  );
  // In place: the same width on the same row moves nothing (see the schema).
  const writeKey = writer.prepare("UPDATE data_keys SET sealed = ? WHERE id = ? AND length(sealed) = length(?)");
  const deletePayload = writer.prepare("DELETE FROM payloads WHERE push_id = ?");
  const insertPayload = writer.prepare("INSERT INTO payloads (push_id, sealed) VALUES (?, ?)");
  const writeFileKey = writer.prepare("UPDATE files SET key_sealed = ? WHERE id = ? AND push_id = ?");
  const queueBlob = writer.prepare(
    `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, 0, 0 FROM files WHERE id = ? AND push_id = ?
     ON CONFLICT (blob_key) DO UPDATE SET due_at = 0`,
  );
  const deleteFile = writer.prepare("DELETE FROM files WHERE id = ? AND push_id = ?");
  const takeUpload = writer.prepare("DELETE FROM uploads WHERE blob_key = ?");
  const insertFile = writer.prepare(
    "INSERT INTO files (id, push_id, blob_key, size_bytes, details_sealed, key_sealed) VALUES (?, ?, ?, ?, ?, ?)",
  );

  function once(changes: number, what: string): void {
    if (changes !== 1) throw new Error(`${what} is not as the row of its push says.`);
  }

  return (pushId, dataKeyId, content) => {
    once(writeKey.run(content.dataKeySealed, dataKeyId, content.dataKeySealed).changes, "The data key");
    onKeyOverwritten();
    changeSeals.run(content.linkSalt, content.passphraseSalt, content.storedBytes, pushId);
    once(deletePayload.run(pushId).changes, "The payload");
    insertPayload.run(pushId, content.payloadSealed);
    for (const fileId of content.removedFileIds) {
      queueBlob.run(fileId, pushId);
      once(deleteFile.run(fileId, pushId).changes, "A removed file");
    }
    for (const { id, keySealed } of content.keptFiles) {
      once(writeFileKey.run(keySealed, id, pushId).changes, "A kept file");
    }
    for (const file of content.addedFiles) {
      if (takeUpload.run(file.blobKey).changes !== 1) throw new UploadSweptError();
      insertFile.run(file.id, pushId, file.blobKey, file.sizeBytes, file.detailsSealed, file.keySealed);
    }
  };
}
