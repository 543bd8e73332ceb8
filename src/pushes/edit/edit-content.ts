import type { Actor } from "../actor.ts";
import { type Unlocked, unlock } from "../claim/unlock.ts";
import type { PendingUpload } from "../create/upload.ts";
import type { PushDeps } from "../deps.ts";
import { hashPassphrase } from "../new-row.ts";
import { type StoredPayload, storedPayload } from "../payload.ts";
import type { EditPush } from "../push.ts";
import {
  type FileList,
  type KeyedFile,
  listFiles,
  openFileKey,
  openPayload,
  positionFiles,
  sealPushContent,
} from "../seals.ts";
import type { ContentChange } from "../store/edit-push.ts";
import type { FileRow, SealedPush } from "../store/tables.ts";

export interface ContentEdit {
  readonly sealed: SealedPush;
  readonly urlToken: string;
  readonly request: EditPush;
  readonly files: EditedFiles;
  readonly upload: PendingUpload;
}

export type SealedContent =
  | { readonly outcome: "sealed"; readonly content: ContentChange }
  | { readonly outcome: "passphrase_required" }
  /** The rows that were read do not match: another edit happened in between, or they were tampered with. */
  | { readonly outcome: "broken" }
  | Exclude<Unlocked, { outcome: "unlocked" }>;

interface OldContent extends StoredPayload {
  readonly keptFiles: readonly (Omit<FileRow, "keySealed"> & KeyedFile)[];
  readonly passphraseHash: Buffer | undefined;
}

export function changesPayload({ payload, fields }: EditPush): boolean {
  return payload !== undefined || fields !== undefined;
}

export function changesContent(request: EditPush, addedFiles: number): boolean {
  return (
    changesPayload(request) ||
    request.passphrase !== undefined ||
    (request.removedFileIds ?? []).length > 0 ||
    addedFiles > 0
  );
}

/**
 * Every change of the content generates another row secret, so that a copy of the old one, in a backup or a page of the disk,
 * opens nothing sealed after it. Kept files are not sealed again; their keys are sealed under the new push key.
 * An unprotected push is opened with its link. A protected one also needs the current passphrase, unless all of the old
 * content is replaced.
 */
export async function sealContent(
  deps: PushDeps,
  edit: ContentEdit,
  now: number,
  actor: Actor,
): Promise<SealedContent> {
  const old = await openOld(deps, edit, now, actor);
  if (old.outcome !== "opened") return old;
  const { request, files, sealed, upload, urlToken } = edit;
  const { payload, payloadFormat } = changesPayload(request) ? storedPayload(request) : old;
  const { passphraseSalt, passphraseHash } = await nextPassphrase(deps, edit, old, actor);
  const added = positionFiles(upload.files, files.present);
  const all = listFiles([...old.keptFiles, ...added]);
  const { files: sealedFiles, ...content } = sealPushContent(
    deps.vault.keyring,
    { ...sealed.row, sealGeneration: sealed.row.sealGeneration + 1, payloadFormat },
    { secrets: { urlToken, passphraseHash }, content: { payload, files: all }, random: deps.random },
  );
  const keptIds = new Set(files.kept.map((file) => file.id));
  return {
    outcome: "sealed",
    content: {
      ...content,
      passphraseSalt,
      payloadFormat,
      storedBytes: Buffer.byteLength(payload) + all.reduce((sum, file) => sum + file.sizeBytes, 0),
      keptFiles: sealedFiles.filter((file) => keptIds.has(file.id)),
      addedFiles: sealedFiles.filter((file) => !keptIds.has(file.id)),
      removedFileIds: files.removed.map((file) => file.id),
    },
  };
}

type OpenedOld = ({ readonly outcome: "opened" } & OldContent) | Exclude<SealedContent, { outcome: "sealed" }>;

async function openOld(deps: PushDeps, edit: ContentEdit, now: number, actor: Actor): Promise<OpenedOld> {
  const { sealed, urlToken, request, files } = edit;
  const { row, payloadSealed } = sealed;
  const passphrase = request.currentPassphrase ?? "";
  if (row.passphraseSalt !== null && passphrase === "") {
    return leavesNothing(edit)
      ? { outcome: "opened", payload: "", payloadFormat: "text", keptFiles: [], passphraseHash: undefined }
      : { outcome: "passphrase_required" };
  }
  const unlocked = await unlock(deps, sealed, { urlToken, passphrase, now, actor });
  if (unlocked.outcome !== "unlocked") return unlocked;
  if (payloadSealed === null) throw new Error(`The live push ${row.id} lacks its payload.`);
  const payload = openPayload(unlocked.key, row, files.present, payloadSealed);
  if (payload === undefined) return { outcome: "broken" };
  const keptFiles: (Omit<FileRow, "keySealed"> & KeyedFile)[] = [];
  for (const { keySealed, ...file } of files.kept) {
    const key = openFileKey(unlocked.key, row, { id: file.id, keySealed });
    if (key === undefined) return { outcome: "broken" };
    keptFiles.push({ ...file, key });
  }
  const { payloadFormat } = row;
  return { outcome: "opened", payload, payloadFormat, keptFiles, passphraseHash: unlocked.passphraseHash };
}

/** The text of a file push is optional, so no new one is required: the old text is removed anyway. */
function leavesNothing({ sealed, request, files }: ContentEdit): boolean {
  const payloadGoes = changesPayload(request) || sealed.row.kind === "file";
  return payloadGoes && request.passphrase !== undefined && files.kept.length === 0;
}

async function nextPassphrase(deps: PushDeps, { sealed, request }: ContentEdit, old: OldContent, actor: Actor) {
  const { passphrase } = request;
  if (passphrase === undefined) {
    return { passphraseSalt: sealed.row.passphraseSalt, passphraseHash: old.passphraseHash };
  }
  return await hashPassphrase(deps, passphrase ?? "", sealed.row.ownerId !== null, actor.client);
}

export interface EditedFiles {
  readonly present: FileList<FileRow>;
  readonly kept: readonly FileRow[];
  readonly removed: readonly FileRow[];
  readonly added: readonly Pick<FileRow, "sizeBytes">[];
}
