import type { Random } from "../base/random.ts";
import { equalDigests } from "../crypto/digests.ts";
import { columnData, type Keyring, type SealedRow } from "../crypto/keyring.ts";
import { derivePushKey, type LinkSecrets, type PushIdentity, type PushKey } from "../crypto/push-key.ts";
import type { RotatedColumn } from "../crypto/sealed-column.ts";
import { deriveKey, keyBytes, openAead, sealAead } from "../crypto/sodium.ts";
import { type FileRow, files, type PushRow, payloads, resumableUploads, rowSecrets } from "./store/tables.ts";
import { payloadFormats } from "./stored-values.ts";

export const firstGeneration = 1;

export interface FileDetails {
  readonly filename: string;
  readonly contentType: string;
}

declare const isFileList: unique symbol;

/** The files of a push in the order of its form. Only `listFiles` makes one; the payload is sealed and opened with one. */
export type FileList<File> = readonly File[] & { readonly [isFileList]: true };

type ListedFile = Pick<FileRow, "id" | "position" | "sizeBytes">;

/**
 * All that seals, opens or shows the files of a push has their order from here. Ids say nothing about it: they come from
 * several processes.
 * @param files all files of the push, in any order.
 */
export function listFiles<File extends ListedFile>(files: readonly File[]): FileList<File> {
  return [...files].sort((a, b) => a.position - b.position) as readonly File[] as FileList<File>;
}

/**
 * New files with their positions, after those that the push has.
 * @param added in the order of the form. @param present of the push, also those that the same edit removes.
 */
export function positionFiles<File>(added: readonly File[], present: FileList<ListedFile> = listFiles([])) {
  const last = present.at(-1)?.position ?? 0;
  return added.map((file, at) => ({ ...file, position: last + 1 + at }));
}

/** What the payload of a push is bound to, besides its files. */
type PayloadIdentity = PushIdentity & Pick<PushRow, "payloadFormat">;

/** A file with its key of 32 random bytes. */
export interface KeyedFile extends ListedFile {
  readonly key: Buffer;
}

interface UnsealedContent<File extends KeyedFile> {
  readonly secrets: LinkSecrets;
  readonly content: { readonly payload: string; readonly files: FileList<File> };
  readonly random: Random;
}

/**
 * Draws a row secret and seals the content of a push under the key that it makes with the link. Every change of the content
 * calls this again for the next generation, so a copy of the old row secret opens nothing sealed after it.
 */
export function sealPushContent<File extends KeyedFile>(
  keyring: Keyring,
  push: PayloadIdentity,
  { secrets, content: { payload, files }, random }: UnsealedContent<File>,
) {
  const rowSecret = random.bytes(keyBytes);
  const key = derivePushKey(rowSecret, secrets, push);
  return {
    keyCheck: key.check,
    /** The length is constant. */
    rowSecretSealed: keyring.seal(rowSecrets.seals.rowSecret, push, rowSecret),
    // Empty payloads are sealed, too, so that a missing row is not taken for an empty payload.
    payloadSealed: sealAead(key.payloadKey, payloadData(push, files), Buffer.from(payload, "utf8"), random),
    files: files.map(({ key: fileKey, ...file }) => ({
      ...file,
      keySealed: sealAead(key.fileKeysKey(), fileKeyData(push, file.id), fileKey, random),
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

/** The payload opens only with all files of the push, so none can be removed, added, moved, reordered or resized. */
function payloadData(push: PayloadIdentity, files: FileList<ListedFile>): Buffer {
  const bound = files.flatMap(({ position, id, sizeBytes }) => [position, id, sizeBytes]);
  // The format too, so that a text is never taken for fields, nor the reverse.
  const format = payloadFormats[push.payloadFormat];
  return columnData(payloads.seals.payload, push, push.sealGeneration, format, ...bound);
}

/** @returns undefined when the payload or the list of files was changed. */
export function openPayload(
  key: { readonly payloadKey: Uint8Array },
  push: PayloadIdentity,
  files: FileList<ListedFile>,
  sealed: Buffer,
): string | undefined {
  return openAead(key.payloadKey, payloadData(push, files), sealed)?.toString("utf8");
}

function fileKeyData({ id, ownerId, sealGeneration }: PushIdentity, fileId: number): Buffer {
  return columnData(files.seals.fileKey, { id: fileId, ownerId }, id, sealGeneration);
}

/** @returns undefined when the sealed key was changed or belongs to another file, push or generation. */
export function openFileKey(
  key: PushKey,
  push: PushIdentity,
  { id, keySealed }: Pick<FileRow, "id" | "keySealed">,
): Buffer | undefined {
  return openAead(key.fileKeysKey(), fileKeyData(push, id), keySealed);
}

/** The context of a file's segments. The file's key is its own; the context additionally binds them to the row. */
export function fileContentContext(fileId: number): string {
  return `file:${fileId}:content`;
}

/** @returns null for an empty text, which is not stored. */
export function sealLabel(keyring: Keyring, column: RotatedColumn, row: SealedRow, text: string): Buffer | null {
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
  if (file.ownerId !== null) return keyring.seal(files.seals.fileDetails, file, plain);
  return sealAead(detailsKey(file.key), columnData(files.seals.anonymousFileDetails, file), plain, random);
}

const plainDetails = ({ filename, contentType }: FileDetails) =>
  Buffer.from(JSON.stringify([filename, contentType]), "utf8");

/** For a file that no push has yet. They are sealed under a key derived from the file's, also if the sender is signed in. */
export function sealUploadDetails(
  file: { id: number; ownerId: number | null; key: Buffer },
  details: FileDetails,
  random: Random,
): Buffer {
  const data = columnData(resumableUploads.seals.uploadDetails, file);
  return sealAead(detailsKey(file.key), data, plainDetails(details), random);
}

/** @returns undefined when the sealed details were changed. */
export function openUploadDetails(
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null; key: Buffer },
): FileDetails | undefined {
  const data = columnData(resumableUploads.seals.uploadDetails, file);
  return readFileDetails(openAead(detailsKey(file.key), data, file.detailsSealed));
}

/** @returns undefined when the sealed details were changed. */
export function openFileDetails(
  keyring: Keyring,
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null; key: Buffer },
): FileDetails | undefined {
  if (file.ownerId !== null) return openOwnedFileDetails(keyring, file);
  const data = columnData(files.seals.anonymousFileDetails, file);
  return readFileDetails(openAead(detailsKey(file.key), data, file.detailsSealed));
}

const detailsKey = (fileKey: Buffer) => deriveKey(fileKey, "file details");

/** For a file of an owned push. @returns undefined when the sealed details were changed. */
export function openOwnedFileDetails(
  keyring: Keyring,
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null },
): FileDetails | undefined {
  return readFileDetails(keyring.open(files.seals.fileDetails, file, file.detailsSealed));
}

function readFileDetails(plain: Buffer | undefined): FileDetails | undefined {
  if (plain === undefined) return undefined;
  const [filename, contentType]: unknown[] = JSON.parse(plain.toString("utf8"));
  return typeof filename === "string" && typeof contentType === "string" ? { filename, contentType } : undefined;
}
