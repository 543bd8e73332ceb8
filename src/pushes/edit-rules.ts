import { dayMs } from "../base/clock.ts";
import { AppError, type FieldProblems } from "../base/errors.ts";
import type { Config, Range } from "../config/config.ts";
import {
  addProblem,
  checkPayload,
  checkRange,
  checkText,
  nameCharactersMax,
  noteCharactersMax,
  type Problems,
  passphraseCharactersMax,
} from "./limits.ts";
import type { Bounds, EditPush } from "./push.ts";
import type { FileRow, PushRow } from "./push-row.ts";

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
