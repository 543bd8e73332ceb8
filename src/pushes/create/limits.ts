import { findLock, findLockInHeader } from "@sealpush/age/age-header";
import { findFieldProblems } from "@sealpush/age/fields";
import { dayMs, minuteMs } from "../../base/clock.ts";
import type { FieldProblems } from "../../base/errors.ts";
import { addProblem, checkRange, type Problems } from "../../base/field-problems.ts";
import { isSealable, type KindName } from "../../base/push-kinds.ts";
import type { Config, KindSettings } from "../../config/config.ts";
import { fieldSentence } from "../payload.ts";
import type { Bounds, CreatePush, EditPush, Lifetime, PushField } from "../push.ts";
import type { PushRow } from "../store/tables.ts";

/** Limits shown in forms and in the API description. Those of characters are in Unicode code points. */
export const pushLimits = {
  payloadCharacters: {
    text: { min: 1, max: 1_048_576 },
    file: { min: 0, max: 1_048_576 },
    url: { min: 1, max: 8_192 },
    qr: { min: 1, max: 1_024 },
  } satisfies Record<KindName, Bounds>,
  /**
   * An armored age file of a payload of 1,048,576 characters in UTF-8, with 64 KiB for the names of files and the headers:
   * 65 characters for 48 bytes.
   */
  sealedCharactersMax: Math.ceil((4 * 1_048_576 + 65_536) / 48) * 65,
  nameCharactersMax: 2_048,
  noteCharactersMax: 65_536,
  passphraseCharactersMax: 4_096,
  /** Per push over its lifetime: enough for people the owner knows, too few for bulk mail. */
  recipientsMax: 5,
} as const;

export type LifetimeLimits = Pick<KindSettings, "days" | "views">;

export function kindOf({ kind, upload }: Pick<CreatePush, "kind" | "upload">): KindName {
  return kind ?? ((upload?.fileCount ?? 0) > 0 ? "file" : "text");
}

/**
 * @param limits those that hold for the caller, whose least the rules may have lowered.
 * @returns the problems of the request for a push of `kind`; empty when it is valid.
 */
export function findProblems(
  request: CreatePush,
  kind: KindName,
  config: Config,
  limits: LifetimeLimits = config.kinds[kind],
): FieldProblems {
  const problems: Problems = {};
  const fileCount = request.upload?.fileCount ?? 0;
  if (!config.kinds[kind].enabled) addProblem(problems, "kind", `${kind} pushes are switched off on this server.`);
  if (fileCount > 0 && kind !== "file" && !config.kinds.file.enabled) {
    addProblem(problems, "files", "File pushes are switched off on this server.");
  }
  if (kind === "file" && fileCount === 0) addProblem(problems, "files", "A file push needs at least one file.");
  if (request.fields !== undefined) checkFields(request, request.fields, kind, problems);
  if (request.encryption !== undefined) checkEncryption(request, kind, problems);
  else {
    if (request.fields === undefined) checkPayload(request.payload ?? "", kind, problems);
    if (request.encryptionCheck !== undefined) addProblem(problems, "encryptionCheck", "needs encryption.");
  }
  checkLifetime(request, limits, problems);
  checkTexts(problems, request);
  return problems;
}

/** The limits of a push that is created at this time. Call only when `findProblems` found none. */
export function lifetimeOf(request: CreatePush, { days, views }: LifetimeLimits, createdAt: number): Lifetime {
  const lifetimeMs = request.expireAfterMs ?? (request.expireAfterDays ?? days.default) * dayMs;
  const expiresAt = request.expiresAt ?? createdAt + lifetimeMs;
  return {
    expiresAt,
    expireAfterDays: Math.ceil((expiresAt - createdAt) / dayMs),
    expireAfterViews: request.expireAfterViews ?? views.default,
  };
}

/** An end that is nearer could come before the answer to the request. */
const leastAheadMs = minuteMs;

/**
 * Not part of `findProblems`: a repeated request is for the same instant, which has come nearer.
 * @param maxMs the longest life.
 */
export function findInstantProblems({ expiresAt }: CreatePush, maxMs: number, now: number): FieldProblems {
  const [min, max] = [now + leastAheadMs, now + maxMs];
  if (expiresAt === undefined || (expiresAt >= min && expiresAt <= max)) return {};
  const [earliest, latest] = [min, max].map((at) => new Date(at).toISOString());
  return { expiresAt: [`must be between ${earliest} and ${latest}.`] };
}

function checkLifetime(request: CreatePush, limits: LifetimeLimits, problems: Problems): void {
  // The most exact field wins, and those that it overrides are ignored.
  if (request.expiresAt !== undefined) {
    if (!Number.isSafeInteger(request.expiresAt)) addProblem(problems, "expiresAt", "is not a time.");
  } else if (request.expireAfterMs !== undefined) {
    const whole = Number.isSafeInteger(request.expireAfterMs);
    const days = whole ? Math.ceil(request.expireAfterMs / dayMs) : Number.NaN;
    checkRange(problems, "expireAfterDuration", days, { ...limits.days, unit: " days" });
  } else {
    checkRange(problems, "expireAfterDays", request.expireAfterDays, limits.days);
  }
  checkRange(problems, "expireAfterViews", request.expireAfterViews, limits.views);
}

export function checkPayload(payload: string, kind: KindName, problems: Problems): void {
  if (!payload.isWellFormed()) {
    addProblem(problems, "payload", "contains a lone surrogate, which is not a character.");
    return;
  }
  const { min, max } = pushLimits.payloadCharacters[kind];
  checkLength(problems, "payload", { value: payload, min, max });
  if (kind === "url" && payload !== "" && !isWebAddress(payload)) {
    addProblem(problems, "payload", "must be an absolute http or https URL.");
  }
}

export function checkFields(
  { payload = "", encryption }: Pick<CreatePush, "payload" | "encryption">,
  fields: readonly PushField[],
  kind: KindName,
  problems: Problems,
): void {
  if (kind !== "text" && kind !== "file") addProblem(problems, "fields", "are only for text and file pushes.");
  if (payload !== "") addProblem(problems, "fields", "must not be sent with a payload.");
  if (encryption !== undefined) addProblem(problems, "fields", "must be sealed in the payload.");
  for (const found of findFieldProblems(fields)) addProblem(problems, "fields", fieldSentence(found));
}

type AskedEncryption = Pick<CreatePush, "encryption" | "encryptionCheck" | "payload" | "passphrase">;

const encryptionCheckShape = /^[0-9a-f]{32}$/;

/** The problems of a request for an end-to-end push; the length and the characters of the payload among them. */
function checkEncryption(request: AskedEncryption, kind: KindName, problems: Problems): void {
  const { encryptionCheck, payload = "", passphrase = "" } = request;
  if (!isSealable(kind)) {
    addProblem(problems, "encryption", "is only for text and file pushes.");
  }
  if (encryptionCheck !== undefined && !encryptionCheckShape.test(encryptionCheck)) {
    addProblem(problems, "encryptionCheck", "must be 32 hexadecimal digits in lower case.");
  }
  if (passphrase !== "") {
    addProblem(problems, "passphrase", "must not be sent with encryption: seal the payload under it instead.");
  }
  if (payload.length > pushLimits.sealedCharactersMax) {
    addProblem(problems, "payload", `may have at most ${pushLimits.sealedCharactersMax} characters when it is sealed.`);
  } else if (!(kind === "file" && payload === "") && findLock(payload) === undefined) {
    addProblem(problems, "payload", "must be an armored age file for an X25519 recipient (age1...) or a passphrase.");
  }
}

/** The stored columns. Call only when `findProblems` found none. */
export function encryptionOf({
  encryption,
  encryptionCheck,
  payload = "",
}: AskedEncryption): Pick<PushRow, "encryption" | "encryptionCheck"> {
  if (encryption === undefined) return { encryption: "none", encryptionCheck: null };
  return {
    encryption: findLockInHeader(payload) === "passphrase" ? "age_passphrase" : "age",
    encryptionCheck: encryptionCheck ?? null,
  };
}

export function checkTexts(
  problems: Problems,
  { name, note, passphrase, currentPassphrase }: Pick<EditPush, "name" | "note" | "passphrase" | "currentPassphrase">,
): void {
  checkText(problems, "name", name, pushLimits.nameCharactersMax);
  checkText(problems, "note", note, pushLimits.noteCharactersMax);
  checkText(problems, "passphrase", passphrase, pushLimits.passphraseCharactersMax);
  checkText(problems, "currentPassphrase", currentPassphrase, pushLimits.passphraseCharactersMax);
}

function checkText(problems: Problems, field: string, value: string | null | undefined, max: number): void {
  if (value === undefined || value === null) return;
  if (value.isWellFormed()) checkLength(problems, field, { value, min: 0, max });
  else addProblem(problems, field, "contains a lone surrogate, which is not a character.");
}

function checkLength(
  problems: Problems,
  field: string,
  { value, min, max }: { readonly value: string; readonly min: number; readonly max: number },
): void {
  const length = codePointsUpTo(max + 1, value);
  if (length >= min && length <= max) return;
  if (length === 0) addProblem(problems, field, "can't be blank.");
  else addProblem(problems, field, `must be between ${min} and ${max} characters.`);
}

/** @returns the number of code points, at most `max`; for a text of fewer UTF-16 code units than that, their number. */
export function codePointsUpTo(max: number, text: string): number {
  // A string has at most as many code points as UTF-16 code units, so only a long one needs counting.
  if (text.length < max) return text.length;
  let count = 0;
  // The string's iterator would make a string of each code point.
  for (let at = 0; at < text.length && count < max; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** Characters that browsers silently drop, so they could hide where an address really begins. */
const forbiddenInAddress = /[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$/u;

/** A host directly after the scheme, and no backslash before the query: otherwise parsers disagree on the host. */
const plainAddress = /^https?:\/\/[^/\\?#][^\\?#]*(?:[?#]|$)/i;

/** Parses like a browser but repairs nothing: the browser follows exactly the stored address. */
export function isWebAddress(text: string): boolean {
  if (forbiddenInAddress.test(text) || !plainAddress.test(text)) return false;
  const parsed = URL.parse(text);
  return parsed !== null && (parsed.protocol === "http:" || parsed.protocol === "https:") && parsed.hostname !== "";
}
