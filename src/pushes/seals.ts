import type { Random } from "../base/random.ts";
import type { Keyring, SealedRow } from "../crypto/keyring.ts";
import { fileKey, linkKey } from "../crypto/link-key.ts";
import { open, seal, unringedKey } from "../crypto/seal.ts";
import { type SealedColumn, sealedColumns } from "../crypto/sealed-columns.ts";
import type { FileRow, PushRow } from "./store/tables.ts";

/**
 * The contexts under which a push's values are sealed. A context binds a sealed value to its row and field, so a value that
 * was moved to another row does not open. The seal generation binds payload and data key to each other across edits. The
 * payload's context includes the ids of the files, so it does not open if a file was removed, added or moved.
 */
export const sealContexts = {
  link: (pushId: number, generation: number) => `push:${pushId}:data-key-link:${generation}`,
  payload: (pushId: number, generation: number, fileIds: readonly number[]) =>
    `push:${pushId}:payload:${generation}:files:${fileIds.join(",")}`,
  fileDetails: (fileId: number) => `file:${fileId}:details`,
  fileContent: (fileId: number) => `file:${fileId}:content`,
  fileKey: (fileId: number, generation: number) => `file:${fileId}:key:${generation}`,
};

export const dataKeyBytes = 32;
/** Each edit of the content raises the seal generation by one. */
export const firstGeneration = 1;
/** For links and for passphrases. */
export const saltBytes = 16;

export interface FileDetails {
  readonly filename: string;
  readonly contentType: string;
}

/** seal(master, seal(link, data key)): neither the master key nor the link alone opens it. The width is constant. */
export function sealDataKey(
  keyring: Keyring,
  push: Pick<PushRow, "id" | "ownerId" | "sealGeneration" | "linkSalt">,
  secrets: { urlToken: string; passphraseHash: Buffer | undefined; dataKey: Buffer },
  random: Random,
): Buffer {
  const link = linkKey(secrets.urlToken, push.linkSalt, secrets.passphraseHash);
  const inner = seal(link, sealContexts.link(push.id, push.sealGeneration), secrets.dataKey, random);
  return keyring.seal(sealedColumns.dataKey, push, inner);
}

export type OpenedDataKey =
  | { readonly outcome: "opened"; readonly dataKey: Buffer }
  | { readonly outcome: "wrong_link" }
  | { readonly outcome: "wrong_master_key" };

export function openDataKey(
  keyring: Keyring,
  push: Pick<PushRow, "id" | "ownerId" | "sealGeneration" | "linkSalt">,
  sealed: Buffer,
  secrets: { urlToken: string; passphraseHash: Buffer | undefined },
): OpenedDataKey {
  const inner = keyring.open(sealedColumns.dataKey, push, sealed);
  if (inner === undefined) return { outcome: "wrong_master_key" };
  const link = linkKey(secrets.urlToken, push.linkSalt, secrets.passphraseHash);
  const dataKey = open(link, sealContexts.link(push.id, push.sealGeneration), inner);
  return dataKey === undefined ? { outcome: "wrong_link" } : { outcome: "opened", dataKey };
}

/** @returns null for an empty text, which is not stored. */
export function sealLabel(keyring: Keyring, column: SealedColumn, row: SealedRow, text: string): Buffer | null {
  return text === "" ? null : keyring.seal(column, row, Buffer.from(text, "utf8"));
}

type PayloadContext = Pick<PushRow, "id" | "sealGeneration"> & { readonly fileIds: readonly number[] };

const payloadContext = (row: PayloadContext) => sealContexts.payload(row.id, row.sealGeneration, row.fileIds);

/** Empty payloads are sealed, too, so that a missing row is not taken for an empty payload. */
export function sealPayload(dataKey: Buffer, row: PayloadContext, payload: string, random: Random): Buffer {
  return seal(unringedKey(dataKey), payloadContext(row), Buffer.from(payload, "utf8"), random);
}

/** @returns undefined when the payload or the list of files was changed. */
export function openPayload(dataKey: Buffer, row: PayloadContext, sealed: Buffer): string | undefined {
  return open(unringedKey(dataKey), payloadContext(row), sealed)?.toString("utf8");
}

/**
 * An edit generates another data key while the kept files are sealed already. Their keys are sealed under the new data key
 * and bound to its generation.
 */
export function sealFileKey(dataKey: Buffer, fileId: number, generation: number, key: Buffer, random: Random): Buffer {
  return seal(unringedKey(dataKey), sealContexts.fileKey(fileId, generation), key, random);
}

/**
 * The key is derived from the data key in the first generation and sealed under it in all later ones, so a removed key is
 * not taken for a derived one. @returns undefined when the key does not have the form that its generation requires.
 */
export function openFileKey(
  dataKey: Buffer,
  file: Pick<FileRow, "id" | "keySealed">,
  generation: number,
): Buffer | undefined {
  if (generation === firstGeneration) return file.keySealed === null ? fileKey(dataKey, file.id) : undefined;
  if (file.keySealed === null) return undefined;
  return open(unringedKey(dataKey), sealContexts.fileKey(file.id, generation), file.keySealed);
}

/**
 * Seals the name and type of a file. For an owned push they are sealed under the master key, since the owner may read them
 * after the end; for an anonymous push under the file's own key, so that they are unreadable without the link.
 */
export function sealFileDetails(
  keyring: Keyring,
  file: { id: number; ownerId: number | null; key: Buffer },
  details: FileDetails,
  random: Random,
): Buffer {
  const plain = Buffer.from(JSON.stringify([details.filename, details.contentType]), "utf8");
  if (file.ownerId !== null) return keyring.seal(sealedColumns.fileDetails, file, plain);
  return seal(unringedKey(file.key), sealContexts.fileDetails(file.id), plain, random);
}

/** @returns undefined when the sealed details were changed. */
export function openFileDetails(
  keyring: Keyring,
  file: Pick<FileRow, "id" | "detailsSealed"> & { ownerId: number | null; key: Buffer },
): FileDetails | undefined {
  if (file.ownerId !== null) return openOwnedFileDetails(keyring, file);
  return readFileDetails(open(unringedKey(file.key), sealContexts.fileDetails(file.id), file.detailsSealed));
}

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
