import { dayMs } from "../../base/clock.ts";
import { AppError, type FieldProblems } from "../../base/errors.ts";
import { addProblem, assertNoProblems, checkRange, type Problems } from "../../base/field-problems.ts";
import type { Config, Range } from "../../config/config.ts";
import type { RotatedColumn } from "../../crypto/sealed-column.ts";
import { leastUnder, settingsUnder } from "../../policies/policies.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { checkFields, checkPayload, checkTexts, type LifetimeLimits } from "../create/limits.ts";
import { assertComplete, ownUpload, type PendingUpload, uploadExpired } from "../create/upload.ts";
import type { PushDeps } from "../deps.ts";
import { findEditViolations } from "../judge.ts";
import { storedPayload } from "../payload.ts";
import { hasEnded, isProvenOwner, openLabel, toOwnersPush } from "../present-push.ts";
import type { Bounds, EditablePush, EditOutcome, EditPush } from "../push.ts";
import { findOptionProblems, optionSettings } from "../push-options.ts";
import { openOwnedFileDetails, sealLabel } from "../seals.ts";
import type { ContentChange, PushChange } from "../store/edit-push.ts";
import { optionsBy, type PushRow, pushes, type SealedPush } from "../store/tables.ts";
import { changesContent, changesPayload, type EditedFiles, sealContent } from "./edit-content.ts";

export function editOperations(deps: PushDeps) {
  return {
    /** The values of the owner's edit form. Undefined: the push is unknown, has ended, or belongs to another user. */
    async findEditable(urlToken: string, actor: Actor): Promise<EditablePush | undefined> {
      const now = deps.clock.now();
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      const { keyring } = deps.vault;
      if (row === undefined || !isProvenOwner(row, urlToken, actor, deps.vault) || hasEnded(row, now)) return undefined;
      const files = (await deps.store.files(row.id)).map((file) => {
        const details = openOwnedFileDetails(keyring, { ...file, ownerId: row.ownerId });
        if (details === undefined) throw new Error(`The details of file ${file.id} do not open.`);
        return { id: file.id, filename: details.filename, sizeBytes: file.sizeBytes };
      });
      const settings = settingsUnder(await deps.policies.of(actor.user), row.kind, deps.config.kinds[row.kind]);
      return { push: toOwnersPush(row, urlToken, now, keyring), files, ...editBounds(row, settings, now) };
    },

    /**
     * Changes a live push that belongs to the actor. On a push with a passphrase, an edit that keeps part of its content needs
     * the current passphrase: a new payload under the same passphrase, a kept file beside an added or removed one, or the same
     * payload under another passphrase. Without it, the payload, all files and the passphrase can be replaced together; the
     * text of a file push is then removed unless a new one is given. Takes ownership of the uploaded files, or abandons them on
     * any other outcome.
     * @throws AppError invalid_fields, too_large (files), bytes_used_up, unavailable.
     */
    async edit(urlToken: string, request: EditPush, actor: Actor): Promise<EditOutcome> {
      const upload = ownUpload(deps, request.upload, actor);
      try {
        assertComplete(upload);
        return await applyEdit(deps, urlToken, request, { upload, actor });
      } finally {
        await upload.abandon();
      }
    },
  };
}

interface Sender {
  readonly upload: PendingUpload;
  readonly actor: Actor;
}

async function applyEdit(
  deps: PushDeps,
  urlToken: string,
  asked: EditPush,
  { upload, actor }: Sender,
): Promise<EditOutcome> {
  const now = deps.clock.now();
  const sealed = await deps.store.findSealed(deps.vault.urlTokens.addressOf(urlToken), () => undefined);
  if (sealed === undefined || !isProvenOwner(sealed.row, urlToken, actor, deps.vault)) {
    return { outcome: "unknown" };
  }
  const { row } = sealed;
  if (hasEnded(row, now)) return { outcome: "gone" };
  const request = withoutNonChanges(asked, row);
  const files = await editedFiles(deps, sealed, request, upload);
  if (files === undefined) return { outcome: "changed_meanwhile" };
  const limits = leastUnder(await deps.policies.of(actor.user), deps.config.kinds[row.kind]);
  assertNoProblems({
    ...findEditProblems(request, row, { ...files, config: deps.config, limits, now }),
    ...(await findOptionProblems(deps, request, actor, row)),
  });
  assertNoProblems(await findEditViolations(deps, { request, row, addedFiles: files.added.length }, actor));

  let content: ContentChange | undefined;
  if (changesContent(request, upload.fileCount)) {
    const payloadBytes = Buffer.byteLength(storedPayload(request).payload);
    await upload.spent.charge(payloadBytes, deps.clock.now());
    await deps.capacity.assertRoomFor(actor, payloadBytes);
    const result = await sealContent(deps, { sealed, urlToken, request, files, upload }, now, actor);
    if (result.outcome === "broken") return await explainConflict(deps, row, { request, limits }, "broken");
    if (result.outcome !== "sealed") return result;
    content = result.content;
  }
  // Read the clock again: the passphrase check may have waited in a queue past the push's expiry.
  const changedAt = deps.clock.now();
  const change = changeOf(deps, row, request, { content, now: changedAt });
  if (change === undefined)
    return { outcome: "edited", push: toOwnersPush(row, urlToken, changedAt, deps.vault.keyring) };
  const changed = await deps.store.change(change, auditRecord("edit", actor, changedAt));
  if (changed === "upload_swept") throw uploadExpired();
  if (changed === "refused") return await explainConflict(deps, row, { request, limits }, "refused");
  upload.handOver();
  return { outcome: "edited", push: toOwnersPush(changed, urlToken, changedAt, deps.vault.keyring) };
}

/** Values that equal the stored ones, as forms send them, and empty fields are not changes. */
function withoutNonChanges(request: EditPush, row: PushRow): EditPush {
  const { passphrase, ...rest } = request;
  const none = passphrase === "" || (passphrase === null && row.passphraseSalt === null);
  return none || passphrase === undefined ? rest : { ...rest, passphrase };
}

/** @returns undefined when a file to remove does not exist: the form is older than the push. */
async function editedFiles(
  deps: PushDeps,
  sealed: SealedPush,
  request: EditPush,
  upload: PendingUpload,
): Promise<EditedFiles | undefined> {
  const removedIds = new Set(request.removedFileIds ?? []);
  const present = await deps.store.filesOf(sealed);
  const removed = present.filter((file) => removedIds.has(file.id));
  if (removed.length < removedIds.size) return undefined;
  const kept = present.filter((file) => !removedIds.has(file.id));
  return { present, kept, removed, added: upload.files };
}

/** @returns undefined when nothing changes. */
function changeOf(
  deps: PushDeps,
  row: PushRow,
  request: EditPush,
  { content, now }: Pick<PushChange, "content" | "now">,
): PushChange | undefined {
  if (row.ownerId === null) throw new Error(`Push ${row.id} has no owner who could edit it.`);
  const { keyring } = deps.vault;
  const changed = <Value>(offered: boolean, asked: Value | undefined, current: Value) =>
    offered && asked !== undefined && asked !== current ? asked : undefined;
  const label = (column: RotatedColumn, asked: string | undefined, current: Buffer | null) =>
    asked === undefined || asked === (openLabel(keyring, column, row, current) ?? "")
      ? undefined
      : { sealed: sealLabel(keyring, column, row, asked) };
  const days = changed(true, request.expireAfterDays, row.expireAfterDays);
  const changes = {
    expiry: days === undefined ? undefined : { expiresAt: row.createdAt + days * dayMs, expireAfterDays: days },
    expireAfterViews: changed(true, request.expireAfterViews, row.expireAfterViews),
    name: label(pushes.seals.name, request.name, row.nameSealed),
    note: label(pushes.seals.note, request.note, row.noteSealed),
    content,
  };
  const options = optionsBy((option) =>
    changed(optionSettings(option, deps.config.kinds[row.kind], true).offered, request[option], row[option]),
  );
  if ([...Object.values(changes), ...Object.values(options)].every((change) => change === undefined)) return undefined;
  return { pushId: row.id, ownerId: row.ownerId, sealGeneration: row.sealGeneration, now, ...changes, options };
}

/** Explains why an edit that was valid at the read failed. Reads the push again to find what changed in between. */
async function explainConflict(
  deps: PushDeps,
  read: PushRow,
  { request, limits }: { readonly request: EditPush; readonly limits: LifetimeLimits },
  how: "broken" | "refused",
): Promise<EditOutcome> {
  const now = deps.clock.now();
  const row = await deps.store.findById(read.id);
  if (row === undefined) return { outcome: "unknown" };
  if (hasEnded(row, now)) return { outcome: "gone" };
  if (row.sealGeneration !== read.sealGeneration) return { outcome: "changed_meanwhile" };
  if (how === "broken") throw new Error(`Payload and files of push ${read.id} do not match.`);
  // Views were used or time passed between the read and the write: report it at the field.
  assertNoProblems(findLimitProblems(request, row, limits, now));
  return { outcome: "changed_meanwhile" };
}

/**
 * The expiry must be in the future and at least one view must remain, because only `expire` ends a push. A limit beyond the
 * settings, from an import or after a settings change, may be kept or reduced towards them.
 */
function editBounds(row: PushRow, { days, views }: LifetimeLimits, now: number) {
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

interface AllowedEdit extends Pick<EditedFiles, "kept" | "added"> {
  readonly config: Config;
  readonly limits: LifetimeLimits;
  readonly now: number;
}

/**
 * @returns the problems of the edit; empty when it is valid.
 * @throws AppError too_large when the files together exceed the bytes allowed for one push.
 */
function findEditProblems(
  request: EditPush,
  row: PushRow,
  { kept, added, config, limits, now }: AllowedEdit,
): FieldProblems {
  const problems = findLimitProblems(request, row, limits, now);
  checkTexts(problems, request);
  if (changesPayload(request) && !config.kinds[row.kind].enabled) {
    addProblem(problems, "kind", "New content of this kind is switched off.");
  }
  if (request.fields !== undefined) checkFields(request, request.fields, row.kind, problems);
  else if (request.payload !== undefined) checkPayload(request.payload, row.kind, problems);
  if (row.encryption !== "none" && changesContent(request, added.length)) {
    addProblem(problems, "payload", "was sealed before it got here, so it cannot be changed: create another push.");
  }
  checkFiles(problems, row, { kept, added }, config);
  return problems;
}

/** Finds the problems that can arise while an edit is under way: views are used, and time passes. */
function findLimitProblems(request: EditPush, row: PushRow, limits: LifetimeLimits, now: number): Problems {
  const problems: Problems = {};
  const { days, views } = editBounds(row, limits, now);
  if (request.expireAfterDays !== row.expireAfterDays) {
    checkRange(problems, "expireAfterDays", request.expireAfterDays, days);
  }
  checkRange(problems, "expireAfterViews", request.expireAfterViews, views);
  return problems;
}

/** Only an edit's additions are limited: a push beyond the current settings may stay as it is or get smaller. */
function checkFiles(
  problems: Problems,
  row: PushRow,
  { kept, added }: Pick<EditedFiles, "kept" | "added">,
  config: Config,
): void {
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
    throw new AppError("too_large", `The files of one push may have at most ${pushBytesMax} bytes together.`);
  }
}
