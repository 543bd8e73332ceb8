import { dayMs } from "../../base/clock.ts";
import { AppError, type FieldProblems, invalidFields } from "../../base/errors.ts";
import type { Config, Range } from "../../config/config.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import {
  addProblem,
  checkPayload,
  checkRange,
  checkText,
  nameCharactersMax,
  noteCharactersMax,
  optionRule,
  type Problems,
  passphraseCharactersMax,
} from "../create/limits.ts";
import { gaveUp, ownUpload, type PendingUpload } from "../create/upload.ts";
import type { PushDeps } from "../deps.ts";
import { viewNotificationProblem } from "../notifications/email-rules.ts";
import { hasEnded, isOwner, openLabel, toOwnedPush } from "../present-push.ts";
import type { Actor, Bounds, EditablePush, EditOutcome, EditPush } from "../push.ts";
import { openOwnedFileDetails, sealContexts, sealLabel } from "../seals.ts";
import type { ContentChange, PushChange } from "../store/edit-push.ts";
import { type FileRow, optionsBy, type PushRow, type SealedPush } from "../store/tables.ts";
import { changesContent, sealContent } from "./edit-content.ts";

/** Undefined: unknown, ended, or not the actor's. */
export async function findEditable(deps: PushDeps, urlToken: string, actor: Actor): Promise<EditablePush | undefined> {
  const now = deps.clock.now();
  const row = await deps.store.find(deps.vault.tokenDigest(urlToken));
  if (row === undefined || !isOwner(row, actor) || hasEnded(row, now)) return undefined;
  const { keyring } = deps.vault;
  const files = (await deps.store.files(row.id)).map((file) => {
    const details = openOwnedFileDetails(keyring, file);
    if (details === undefined) throw new Error(`The details of file ${file.id} do not open.`);
    return { id: file.id, filename: details.filename, sizeBytes: file.sizeBytes };
  });
  return { push: toOwnedPush(row, now, keyring), files, ...editBounds(row, deps.config, now) };
}

/** Files given along are taken over, or abandoned whatever else happens. */
export async function editPush(
  deps: PushDeps,
  urlToken: string,
  request: EditPush,
  actor: Actor,
): Promise<EditOutcome> {
  const upload = ownUpload(request.upload, actor);
  try {
    return await edit(deps, urlToken, request, upload, actor);
  } finally {
    await upload?.abandon();
  }
}

async function edit(
  deps: PushDeps,
  urlToken: string,
  asked: EditPush,
  upload: PendingUpload | undefined,
  actor: Actor,
): Promise<EditOutcome> {
  const now = deps.clock.now();
  const sealed = await deps.store.findSealed(deps.vault.tokenDigest(urlToken));
  if (sealed === undefined || !isOwner(sealed.row, actor)) return { outcome: "unknown" };
  const { row } = sealed;
  if (hasEnded(row, now)) return { outcome: "gone" };
  const request = withoutNonChanges(asked, row);
  const files = await editedFiles(deps, sealed, request, upload);
  if (files === undefined) return { outcome: "changed_meanwhile" };
  const problems = {
    ...findEditProblems(request, row, files, deps.config, now),
    ...(await findNoticeProblems(deps, request, row, actor)),
  };
  if (Object.keys(problems).length > 0) throw invalidFields(problems);

  let content: ContentChange | undefined;
  if (changesContent(request, upload)) {
    await deps.capacity.assertRoomFor(actor, Buffer.byteLength(request.payload ?? ""));
    const { removed } = files;
    const result = await sealContent(deps, { sealed, urlToken, request, files, removed, upload }, now, actor);
    if (result.outcome === "broken") return await lost(deps, row, request, "broken");
    if (result.outcome !== "sealed") return result;
    content = result.content;
  }
  // Read anew: trying a passphrase may have waited in a queue, past the end of the push.
  const changedAt = deps.clock.now();
  const change = changeOf(deps, row, request, content, changedAt);
  if (change === undefined) return { outcome: "edited", push: toOwnedPush(row, changedAt, deps.vault.keyring) };
  const changed = await deps.store.change(change, auditRecord("edit", actor, changedAt));
  switch (changed.outcome) {
    case "changed":
      upload?.handOver();
      return { outcome: "edited", push: toOwnedPush(changed.row, changedAt, deps.vault.keyring) };
    case "refused":
      return await lost(deps, row, request, "refused");
    case "upload_swept":
      throw gaveUp();
  }
}

/** Off it can be switched by everybody. */
async function findNoticeProblems(
  { emails }: PushDeps,
  { notifyOnView }: EditPush,
  row: PushRow,
  actor: Actor,
): Promise<FieldProblems> {
  if (notifyOnView !== true || row.notifyOnView) return {};
  const problem = await viewNotificationProblem(emails, actor);
  return problem === undefined ? {} : { notifyOnView: [problem] };
}

/** What an old form or an empty field sends is no change. */
function withoutNonChanges(request: EditPush, row: PushRow): EditPush {
  const { passphrase, ...rest } = request;
  const none = passphrase === "" || (passphrase === null && row.passphraseSalt === null);
  return none || passphrase === undefined ? rest : { ...rest, passphrase };
}

/** @returns undefined when one to be removed is not there: the form is older than the push. */
async function editedFiles(
  deps: PushDeps,
  sealed: SealedPush,
  request: EditPush,
  upload: PendingUpload | undefined,
): Promise<{ kept: FileRow[]; removed: FileRow[]; added: readonly FileRow[] } | undefined> {
  const removedIds = new Set(request.removedFileIds ?? []);
  const present = sealed.hasFiles ? await deps.store.files(sealed.row.id) : [];
  const removed = present.filter((file) => removedIds.has(file.id));
  if (removed.length < removedIds.size) return undefined;
  const kept = present.filter((file) => !removedIds.has(file.id));
  return { kept, removed, added: upload?.files ?? [] };
}

/** @returns undefined when everything is as it was. */
function changeOf(
  deps: PushDeps,
  row: PushRow,
  request: EditPush,
  content: ContentChange | undefined,
  now: number,
): PushChange | undefined {
  if (row.ownerId === null) throw new Error(`Push ${row.id} has no owner who could edit it.`);
  const { keyring } = deps.vault;
  const changed = <Value>(offered: boolean, asked: Value | undefined, current: Value) =>
    offered && asked !== undefined && asked !== current ? asked : undefined;
  const label = (context: string, asked: string | undefined, current: Buffer | null) =>
    asked === undefined || asked === (openLabel(keyring, context, current) ?? "")
      ? undefined
      : { sealed: sealLabel(keyring, context, asked) };
  const days = changed(true, request.expireAfterDays, row.expireAfterDays);
  const changes = {
    expiry: days === undefined ? undefined : { expiresAt: row.createdAt + days * dayMs, expireAfterDays: days },
    expireAfterViews: changed(true, request.expireAfterViews, row.expireAfterViews),
    name: label(sealContexts.name(row.id), request.name, row.nameSealed),
    note: label(sealContexts.note(row.id), request.note, row.noteSealed),
    content,
  };
  const options = optionsBy((option) =>
    changed(optionRule(option, row.kind, deps.config, true).offered, request[option], row[option]),
  );
  if ([...Object.values(changes), ...Object.values(options)].every((change) => change === undefined)) return undefined;
  return { pushId: row.id, ownerId: row.ownerId, sealGeneration: row.sealGeneration, now, ...changes, options };
}

/** Why an edit that was valid when the push was read failed: the push is read again to find what came in between. */
async function lost(deps: PushDeps, read: PushRow, request: EditPush, how: "broken" | "refused"): Promise<EditOutcome> {
  const now = deps.clock.now();
  const row = await deps.store.findById(read.id);
  if (row === undefined) return { outcome: "unknown" };
  if (hasEnded(row, now)) return { outcome: "gone" };
  if (row.sealGeneration !== read.sealGeneration) return { outcome: "changed_meanwhile" };
  if (how === "broken") throw new Error(`Payload and files of push ${read.id} do not fit together.`);
  // Views were used up, or an instant has passed, between the reading and the write: say so beside the field.
  const problems = findLimitProblems(request, row, deps.config, now);
  if (Object.keys(problems).length > 0) throw invalidFields(problems);
  return { outcome: "changed_meanwhile" };
}

/**
 * Days end in the future, and views leave at least one: to end a push there is `expire`. What a push already has beyond
 * the settings - it was imported, or they were changed - it may keep, or come closer to them.
 */
export function editBounds(
  row: PushRow,
  config: Config,
  now: number,
): { readonly days: Bounds; readonly views: Bounds } {
  const { days, views } = config.kinds[row.kind];
  const daysPast = Math.floor((now - row.createdAt) / dayMs);
  return {
    days: boundsOf(days, row.expireAfterDays, daysPast + 1),
    views: boundsOf(views, row.expireAfterViews, row.views + 1),
  };
}

function boundsOf(range: Range, current: number, leastUseful: number): Bounds {
  const min = Math.max(Math.min(range.min, current), leastUseful);
  return { min, max: Math.max(range.max, current, min) };
}

export interface EditedFiles {
  readonly kept: readonly FileRow[];
  readonly added: readonly FileRow[];
}

/**
 * @returns what is wrong with the edit; empty when nothing is.
 * @throws AppError too_large when the files would be more bytes together than one push may have.
 */
export function findEditProblems(
  request: EditPush,
  row: PushRow,
  { kept, added }: EditedFiles,
  config: Config,
  now: number,
): FieldProblems {
  const problems: Problems = {};
  checkLimits(problems, request, row, config, now);
  checkText(problems, "name", request.name, nameCharactersMax);
  checkText(problems, "note", request.note, noteCharactersMax);
  checkText(problems, "passphrase", request.passphrase ?? undefined, passphraseCharactersMax);
  checkText(problems, "currentPassphrase", request.currentPassphrase, passphraseCharactersMax);
  if (request.payload !== undefined) {
    if (!config.kinds[row.kind].enabled) addProblem(problems, "kind", "New content of this kind is switched off.");
    checkPayload(request.payload, row.kind, problems);
  }
  checkFiles(problems, row, { kept, added }, config);
  return problems;
}

/** Those that may arise while an edit is on its way: views are used, and time passes. */
export function findLimitProblems(request: EditPush, row: PushRow, config: Config, now: number): FieldProblems {
  const problems: Problems = {};
  checkLimits(problems, request, row, config, now);
  return problems;
}

function checkLimits(problems: Problems, request: EditPush, row: PushRow, config: Config, now: number): void {
  const { days, views } = editBounds(row, config, now);
  if (request.expireAfterDays !== undefined && request.expireAfterDays !== row.expireAfterDays) {
    checkRange(problems, "expireAfterDays", request.expireAfterDays, days, "");
  }
  if (request.expireAfterViews !== undefined) {
    checkRange(problems, "expireAfterViews", request.expireAfterViews, views, "");
  }
}

/** Only what an edit adds is measured: a push that has more than the settings now allow may keep it, or get smaller. */
function checkFiles(problems: Problems, row: PushRow, { kept, added }: EditedFiles, config: Config): void {
  const { maxFileUploads, pushBytesMax } = config.files;
  if (row.kind === "file" && kept.length + added.length === 0) {
    addProblem(problems, "files", "A file push needs at least one file.");
  }
  if (added.length === 0) return;
  if (!config.kinds.file.enabled) addProblem(problems, "files", "File pushes are switched off on this server.");
  if (kept.length + added.length > maxFileUploads) {
    addProblem(problems, "files", `can't be more than ${maxFileUploads}.`);
  }
  const bytes = [...kept, ...added].reduce((sum, file) => sum + file.sizeBytes, 0);
  if (bytes > pushBytesMax) {
    throw new AppError("too_large", `The files of one push may have ${pushBytesMax} bytes together.`);
  }
}
