import { makePassphraseSalt } from "../../crypto/passphrase.ts";
import { type Unlocked, unlock } from "../claim/unlock.ts";
import type { PendingUpload } from "../create/upload.ts";
import type { PushDeps } from "../deps.ts";
import type { Actor, EditPush } from "../push.ts";
import { dataKeyBytes, openFileKey, openPayload, saltBytes, sealDataKey, sealFileKey, sealPayload } from "../seals.ts";
import type { ContentChange } from "../store/edit-push.ts";
import type { FileRow, SealedPush } from "../store/tables.ts";
import type { EditedFiles } from "./edit.ts";

export interface ContentEdit {
  readonly sealed: SealedPush;
  readonly urlToken: string;
  readonly request: EditPush;
  readonly files: EditedFiles;
  readonly removed: readonly FileRow[];
  readonly upload: PendingUpload | undefined;
}

export type SealedContent =
  | { readonly outcome: "sealed"; readonly content: ContentChange }
  | { readonly outcome: "passphrase_required" }
  /** The rows that were read do not match: another edit happened in between, or they were tampered with. */
  | { readonly outcome: "broken" }
  | Exclude<Unlocked, { outcome: "unlocked" }>;

interface OldContent {
  readonly payload: string;
  /** In the same order as the kept files. */
  readonly fileKeys: readonly Buffer[];
  readonly passphraseHash: Buffer | undefined;
}

/** Whether the edit changes anything sealed under the data key. */
export function changesContent(request: EditPush, upload: PendingUpload | undefined): boolean {
  return (
    request.payload !== undefined ||
    request.passphrase !== undefined ||
    (request.removedFileIds ?? []).length > 0 ||
    (upload?.fileCount ?? 0) > 0
  );
}

/**
 * Every change of the content generates another data key, so that a copy of the old key, in a backup or a page of the disk,
 * opens nothing sealed after it. Kept files are not sealed again; their keys are sealed under the new data key.
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
  const { random, vault } = deps;
  const payload = request.payload ?? old.payload;
  const { passphraseSalt, passphraseHash } = await nextPassphrase(deps, edit, old, actor);
  const dataKey = random.bytes(dataKeyBytes);
  const next = {
    id: sealed.row.id,
    ownerId: sealed.row.ownerId,
    sealGeneration: sealed.row.sealGeneration + 1,
    linkSalt: random.bytes(saltBytes),
    fileIds: [...files.kept, ...files.added].map((file) => file.id).sort((a, b) => a - b),
  };
  const moved = (file: FileRow, key: Buffer | undefined) => {
    if (key === undefined) throw new Error(`The key of file ${file.id} is not known.`);
    return sealFileKey(dataKey, file.id, next.sealGeneration, key, random);
  };
  const fileBytes = [...files.kept, ...files.added].reduce((sum, file) => sum + file.sizeBytes, 0);
  return {
    outcome: "sealed",
    content: {
      linkSalt: next.linkSalt,
      passphraseSalt,
      dataKeySealed: sealDataKey(vault.keyring, next, { urlToken, passphraseHash, dataKey }, random),
      payloadSealed: sealPayload(dataKey, next, payload, random),
      storedBytes: Buffer.byteLength(payload) + fileBytes,
      keptFiles: files.kept.map((file, at) => ({ id: file.id, keySealed: moved(file, old.fileKeys[at]) })),
      addedFiles: files.added.map((file) => ({ ...file, keySealed: moved(file, upload?.fileKey(file.id)) })),
      removedFileIds: edit.removed.map((file) => file.id),
    },
  };
}

async function openOld(
  deps: PushDeps,
  edit: ContentEdit,
  now: number,
  actor: Actor,
): Promise<({ readonly outcome: "opened" } & OldContent) | Exclude<SealedContent, { outcome: "sealed" }>> {
  const { sealed, urlToken, request, files, removed } = edit;
  const { row, payloadSealed } = sealed;
  const passphrase = request.currentPassphrase ?? "";
  if (row.passphraseSalt !== null && passphrase === "") {
    return leavesNothing(edit)
      ? { outcome: "opened", payload: "", fileKeys: [], passphraseHash: undefined }
      : { outcome: "passphrase_required" };
  }
  const unlocked = await unlock(deps, sealed, { urlToken, passphrase }, now, actor);
  if (unlocked.outcome !== "unlocked") return unlocked;
  if (payloadSealed === null) throw new Error(`The live push ${row.id} lacks its payload.`);
  const fileIds = [...files.kept, ...removed].map((file) => file.id).sort((a, b) => a - b);
  const payload = openPayload(unlocked.dataKey, { ...row, fileIds }, payloadSealed);
  if (payload === undefined) return { outcome: "broken" };
  const fileKeys: Buffer[] = [];
  for (const file of files.kept) {
    const key = openFileKey(unlocked.dataKey, file, row.sealGeneration);
    if (key === undefined) return { outcome: "broken" };
    fileKeys.push(key);
  }
  return { outcome: "opened", payload, fileKeys, passphraseHash: unlocked.passphraseHash };
}

/** The text of a file push is optional, so no new one is required: the old text is removed anyway. */
function leavesNothing({ sealed, request, files }: ContentEdit): boolean {
  const payloadGoes = request.payload !== undefined || sealed.row.kind === "file";
  return payloadGoes && request.passphrase !== undefined && files.kept.length === 0;
}

async function nextPassphrase(
  deps: PushDeps,
  { sealed, request }: ContentEdit,
  old: OldContent,
  actor: Actor,
): Promise<{ readonly passphraseSalt: Buffer | null; readonly passphraseHash: Buffer | undefined }> {
  const { passphrase } = request;
  if (passphrase === undefined) {
    return { passphraseSalt: sealed.row.passphraseSalt, passphraseHash: old.passphraseHash };
  }
  if (passphrase === null) return { passphraseSalt: null, passphraseHash: undefined };
  const passphraseSalt = makePassphraseSalt(deps.random, sealed.row.ownerId !== null);
  return { passphraseSalt, passphraseHash: await deps.argon2.deriveKey(passphrase, passphraseSalt, actor.client) };
}
