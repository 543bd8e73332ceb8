import type { Random } from "../base/random.ts";
import { equalDigests } from "../crypto/digests.ts";
import { columnData, type Keyring, type SealedRow } from "../crypto/keyring.ts";
import { derivePushKey, type LinkSecrets, type PushIdentity, type PushKey } from "../crypto/push-key.ts";
import { pushKeyColumns, type SealedColumn, sealedColumns } from "../crypto/sealed-columns.ts";
import { deriveKey, keyBytes, openAead, sealAead } from "../crypto/sodium.ts";
import type { FileRow, PushRow } from "./store/tables.ts";

export const firstGeneration = 1;

export interface FileDetails {
  readonly filename: string;
  readonly contentType: string;
}

/** A file with its key of 32 random bytes. */
export interface KeyedFile {
  readonly id: number;
  readonly sizeBytes: number;
  readonly key: Buffer;
}

/**
 * Draws a row secret and seals the content of a push under the key that it makes with the link. Every change of the content
 * calls this again for the next generation, so a copy of the old row secret opens nothing sealed after it.
 * @param files all files of the push, in the order of their ids.
 */
export function sealPushContent<File extends KeyedFile>(
  keyring: Keyring,
  push: PushIdentity,
  secrets: LinkSecrets,
  { payload, files }: { readonly payload: string; readonly files: readonly File[] },
  random: Random,
) {
  const rowSecret = random.bytes(keyBytes);
  const key = derivePushKey(rowSecret, secrets, push);
  return {
    keyCheck: key.check,
    /** The length is constant. */
    rowSecretSealed: keyring.seal(sealedColumns.rowSecret, push, rowSecret),
    // Empty payloads are sealed, too, so that a missing row is not taken for an empty payload.
    payloadSealed: sealAead(key.payloadKey, payloadData(push, files), Buffer.from(payload, "utf8"), random),
    files: files.map(({ key: fileKey, ...file }) => ({
      ...file,
      keySealed: sealAead(key.fileKeysKey, fileKeyData(push, file.id), fileKey, random),
    })),
  };
}

export type OpenedKey =
  | { readonly outcome: "opened"; readonly key: PushKey; readonly rowSecret: Buffer }
  /** The link, or more likely the passphrase, is not the push's. */
  | { readonly outcome: "wrong_link" }
  /** Sealed under an unknown master key, of another row, or damaged. */
  | { readonly outcome: "damaged" };

/** Compares the key check in constant time. @param rowSecret undefined: its sealed value does not open. */
export function openPushKey(
  push: PushIdentity & Pick<PushRow, "keyCheck">,
  rowSecret: Buffer | undefined,
  secrets: LinkSecrets,
): OpenedKey {
  if (rowSecret === undefined) return { outcome: "damaged" };
  const key = derivePushKey(rowSecret, secrets, push);
  return equalDigests(key.check, push.keyCheck) ? { outcome: "opened", key, rowSecret } : { outcome: "wrong_link" };
}

/** The payload opens only with all files of the push, so none can be removed, added, moved or resized. */
function payloadData(push: PushIdentity, files: readonly Pick<FileRow, "id" | "sizeBytes">[]): Buffer {
  const bound = files.flatMap(({ id, sizeBytes }) => [id, sizeBytes]);
  return columnData(pushKeyColumns.payload, push, push.sealGeneration, ...bound);
}

/** @param files in the order of their ids. @returns undefined when the payload or the list of files was changed. */
export function openPayload(
  key: { readonly payloadKey: Uint8Array },
  push: PushIdentity,
  files: readonly Pick<FileRow, "id" | "sizeBytes">[],
  sealed: Buffer,
): string | undefined {
  return openAead(key.payloadKey, payloadData(push, files), sealed)?.toString("utf8");
}

function fileKeyData({ id, ownerId, sealGeneration }: PushIdentity, fileId: number): Buffer {
  return columnData(pushKeyColumns.fileKey, { id: fileId, ownerId }, id, sealGeneration);
}

/** @returns undefined when the sealed key was changed or belongs to another file, push or generation. */
export function openFileKey(
  key: PushKey,
  push: PushIdentity,
  { id, keySealed }: Pick<FileRow, "id" | "keySealed">,
): Buffer | undefined {
  return openAead(key.fileKeysKey, fileKeyData(push, id), keySealed);
}

/** The context of a file's segments. The file's key is its own; the context additionally binds them to the row. */
export function fileContentContext(fileId: number): string {
  return `file:${fileId}:content`;
}

/** @returns null for an empty text, which is not stored. */
export function sealLabel(keyring: Keyring, column: SealedColumn, row: SealedRow, text: string): Buffer | null {
  return text === "" ? null : keyring.seal(column, row, Buffer.from(text, "utf8"));
}

/**
 * Seals the name and type of a file. For an owned push they are sealed under the master key, since the owner may read them
 * after the end; for an anonymous push under a key derived from the file's, so that they are unreadable without the link.
 */
export function sealFileDetails(
  keyring: Keyring,
  file: { id: number; ownerId: number | null; key: Buffer },
  details: FileDetails,
  random: Random,
): Buffer {
  const plain = plainDetails(details);
  if (file.ownerId !== null) return keyring.seal(sealedColumns.fileDetails, file, plain);
  return sealAead(detailsKey(file.key), columnData(pushKeyColumns.anonymousFileDetails, file), plain, random);
}

const plainDetails = ({ filename, contentType }: FileDetails) =>
  Buffer.from(JSON.stringify([filename, contentType]), "utf8");

/** For a file that no push has yet. They are sealed under a key derived from the file's, also if the sender is signed in. */
export function sealUploadDetails(
  file: { id: number; ownerId: number | null; key: Buffer },
  details: FileDetails,
  random: Random,
): Buffer {
  const data = columnData(pushKeyColumns.uploadDetails, file);
  return sealAead(detailsKey(file.key), data, plainDetails(details), random);
}

/** @returns undefined when the sealed details were changed. */
export function openUploadDetails(
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null; key: Buffer },
): FileDetails | undefined {
  const data = columnData(pushKeyColumns.uploadDetails, file);
  return readFileDetails(openAead(detailsKey(file.key), data, file.detailsSealed));
}

/** @returns undefined when the sealed details were changed. */
export function openFileDetails(
  keyring: Keyring,
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null; key: Buffer },
): FileDetails | undefined {
  if (file.ownerId !== null) return openOwnedFileDetails(keyring, file);
  const data = columnData(pushKeyColumns.anonymousFileDetails, file);
  return readFileDetails(openAead(detailsKey(file.key), data, file.detailsSealed));
}

const detailsKey = (fileKey: Buffer) => deriveKey(fileKey, "file details");

/** For a file of an owned push. @returns undefined when the sealed details were changed. */
export function openOwnedFileDetails(
  keyring: Keyring,
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null },
): FileDetails | undefined {
  return readFileDetails(keyring.open(sealedColumns.fileDetails, file, file.detailsSealed));
}

function readFileDetails(plain: Buffer | undefined): FileDetails | undefined {
  if (plain === undefined) return undefined;
  const [filename, contentType]: unknown[] = JSON.parse(plain.toString("utf8"));
  return typeof filename === "string" && typeof contentType === "string" ? { filename, contentType } : undefined;
}
