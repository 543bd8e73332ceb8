import type { Database, Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import { payloadFormats } from "../stored-values.ts";
import { type FileRow, type PushOptions, type PushRow, payloads, pushOptions, readPushes } from "./tables.ts";
import {
  deletePayload,
  destroyClaimCopies,
  destroyTickets,
  insertFiles,
  insertPayload,
  recordEvent,
  UploadSweptError,
} from "./write-operations.ts";

/** The values that an edit writes. Absent: the row keeps its current value. */
export interface PushChange {
  readonly pushId: number;
  readonly ownerId: number;
  readonly sealGeneration: number;
  /** The push must not have expired at this time, neither by its old expiry nor by its new one. */
  readonly now: number;
  readonly expiry?: { readonly expiresAt: number; readonly expireAfterDays: number } | undefined;
  readonly expireAfterViews?: number | undefined;
  readonly options?: PushOptions<boolean | undefined>;
  readonly name?: SealedLabel | undefined;
  readonly note?: SealedLabel | undefined;
  readonly content?: ContentChange | undefined;
}

export interface SealedLabel {
  readonly sealed: Buffer | null;
}

/** Sealed for the generation that follows the one read. */
export interface ContentChange extends Pick<PushRow, "keyCheck" | "passphraseSalt" | "payloadFormat"> {
  readonly rowSecretSealed: Buffer;
  readonly payloadSealed: Buffer;
  readonly storedBytes: number;
  readonly keptFiles: readonly Pick<FileRow, "id" | "keySealed">[];
  readonly addedFiles: readonly FileRow[];
  /** The blobs of these files are due for deletion at once. */
  readonly removedFileIds: readonly number[];
}

/** `refused`: the guard matched no row. `upload_swept`: the upload of an added file is no longer recorded. */
export type ChangeOutcome = PushRow | "refused" | "upload_swept";

// An edit always raises `updated_at`, whatever the clock says: a claim recognises by it whether the push is as it was read.
// The guard: of concurrent edits, claims and ends only one finds the row as it read it. Used views stay below the limit.
const changeRow = sql<(number | Buffer | null)[], { rowSecretId: number }>(
  `UPDATE pushes SET updated_at = CASE WHEN updated_at < CAST(? AS BIGINT) THEN ? ELSE updated_at + 1 END, seal_generation = seal_generation + ?,
     expires_at = coalesce(?, expires_at), expire_after_days = coalesce(?, expire_after_days),
     expire_after_views = coalesce(?, expire_after_views),
     ${pushOptions.columnNames.map((column) => `${column} = coalesce(?, ${column})`).join(", ")},
     name_sealed = CASE CAST(? AS BIGINT) WHEN 1 THEN ? ELSE name_sealed END,
     note_sealed = CASE CAST(? AS BIGINT) WHEN 1 THEN ? ELSE note_sealed END
   WHERE id = ? AND owner_id = ? AND ended_at IS NULL AND seal_generation = ? AND expires_at > ?
     AND coalesce(?, expires_at) > ? AND views < coalesce(?, expire_after_views)
   RETURNING row_secret_id AS rowSecretId`,
);
const rowById = readPushes.select<[pushId: number]>("WHERE id = ?");
const changeSeals = sql<
  [keyCheck: Buffer, passphraseSalt: Buffer | null, payloadFormat: number, storedBytes: number, pushId: number]
>("UPDATE pushes SET key_check = ?, passphrase_salt = ?, payload_format = ?, stored_bytes = ? WHERE id = ?");
// In place on SQLite: the same width in the same row moves no bytes (see the schema).
const writeKey = sql<[sealed: Buffer, rowSecretId: number, sealedBytes: number]>(
  "UPDATE row_secrets SET sealed = ? WHERE id = ? AND length(sealed) = ?",
);
const writeFileKey = sql<[keySealed: Buffer, fileId: number, pushId: number]>(
  "UPDATE files SET key_sealed = ? WHERE id = ? AND push_id = ?",
);
const queueBlobOfFile = sql<[fileId: number, pushId: number]>(
  `INSERT INTO blob_deletions (blob_key, due_at, attempts) SELECT blob_key, 0, 0 FROM files WHERE id = ? AND push_id = ?
   ON CONFLICT (blob_key) DO UPDATE SET due_at = 0`,
);
const deleteFile = sql<[fileId: number, pushId: number]>("DELETE FROM files WHERE id = ? AND push_id = ?");

export function editWrites(db: Pick<Database, "write">) {
  return {
    /** Atomic. Guarded like a claim, and by the used views, which stay below the limit. */
    async change(request: PushChange, audit: AuditRecord): Promise<ChangeOutcome> {
      try {
        return (await db.write((tx) => changePush(tx, request, audit))) ?? "refused";
      } catch (error) {
        if (error instanceof UploadSweptError) return "upload_swept";
        throw error;
      }
    },
  };
}

/** Runs inside a transaction. @returns undefined when the guard matched no row. @throws UploadSweptError. */
async function changePush(tx: Transaction, change: PushChange, audit: AuditRecord): Promise<PushRow | undefined> {
  const { pushId, expiry, expireAfterViews = null, name, note, content, now } = change;
  const expiresAt = expiry?.expiresAt ?? null;
  const changed = await tx.one(
    changeRow,
    now,
    now,
    content === undefined ? 0 : 1,
    expiresAt,
    expiry?.expireAfterDays ?? null,
    expireAfterViews,
    ...pushOptions.keys.map((option) => flag(change.options?.[option])),
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
  if (content !== undefined) await writeContent(tx, pushId, changed.rowSecretId, content);
  await recordEvent(tx, pushId, audit);
  const raw = await tx.one(rowById, pushId);
  return raw === undefined ? undefined : readPushes.decode(raw);
}

function flag(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value);
}

async function writeContent(
  tx: Transaction,
  pushId: number,
  rowSecretId: number,
  content: ContentChange,
): Promise<void> {
  await destroyClaimCopies(tx, pushId);
  once(await tx.run(writeKey, content.rowSecretSealed, rowSecretId, content.rowSecretSealed.length), "The row secret");
  const { keyCheck, passphraseSalt, storedBytes } = content;
  const format = payloadFormats[content.payloadFormat];
  await tx.run(changeSeals, keyCheck, passphraseSalt, format, storedBytes, pushId);
  once(await tx.run(deletePayload, pushId), "The payload");
  await tx.run(insertPayload, ...payloads.values({ pushId, sealed: content.payloadSealed }));
  await destroyTickets(tx, pushId, content.removedFileIds);
  for (const fileId of content.removedFileIds) {
    await tx.run(queueBlobOfFile, fileId, pushId);
    once(await tx.run(deleteFile, fileId, pushId), "A removed file");
  }
  for (const { id, keySealed } of content.keptFiles) {
    once(await tx.run(writeFileKey, keySealed, id, pushId), "A kept file");
  }
  await insertFiles(tx, pushId, content.addedFiles);
}

function once(changes: number, what: string): void {
  if (changes !== 1) throw new Error(`${what} is not as the row of its push says.`);
}
