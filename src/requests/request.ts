import { findLock } from "@sealpush/age/age-header";
import type { FieldProblems } from "../base/errors.ts";
import { checkRange, type Problems } from "../base/field-problems.ts";
import { isSeen } from "../base/one-line.ts";
import type { Config } from "../config/config.ts";
import { codePointsUpTo } from "../pushes/pushes.ts";

/** A request for a secret, as its owner's browser or program creates it. */
export interface NewRequest {
  /** Shown to those who answer, and the name of the answers. */
  readonly title: string;
  readonly note: string;
  readonly wantsText: boolean;
  readonly wantsFiles: boolean;
  readonly answersMax: number;
  /** undefined: `daysDefaultOf`. */
  readonly expireAfterDays: number | undefined;
  /** The age recipient that answers are sealed for. */
  readonly recipient: string;
  /** See `LinkKey.check`; the answers get it as their check. */
  readonly encryptionCheck: string;
  /** The identity as an age file under the owner's passphrase; "": the owner keeps it in the private link. */
  readonly identitySealed: string;
  /** See `ownerProofOf`. Without an account it proves later who made the request; with one it is not used. */
  readonly ownerProof: string;
}

/** `full`: it has all the answers that it may have. */
export type RequestState = "open" | "full" | "closed" | "expired";

/** What everybody with the link may read. */
export interface OpenRequest
  extends Pick<NewRequest, "title" | "note" | "wantsText" | "wantsFiles" | "recipient" | "encryptionCheck"> {
  readonly urlToken: string;
  readonly state: RequestState;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** It was made without an account: only the proof of its private link leads to the answers. */
  readonly isAnonymous: boolean;
  /** The confirmed email address of the account that asks; null: it is not known who asks. */
  readonly askedBy: string | null;
}

export interface ListedRequest extends Omit<OwnedRequest, "urlToken"> {
  /** null: this server does not store the link, or not any more. */
  readonly urlToken: string | null;
}

export interface OwnedRequest extends Omit<OpenRequest, "askedBy">, Pick<NewRequest, "answersMax" | "identitySealed"> {
  /** The fingerprint of the recipient, for the end of the link to send: see `fingerprintOf`. */
  readonly fingerprint: string;
  readonly answers: number;
  readonly createdAt: number;
}

/** Limits shown in forms and in the API description; characters are Unicode code points. */
export const requestLimits = {
  titleCharactersMax: 200,
  noteCharactersMax: 4_096,
  answersMax: 100,
  /** An age file under a passphrase with one identity in it has less than half of this. */
  identitySealedCharactersMax: 2_048,
  /** Requests of one owner that can be answered. */
  openMax: 100,
  /** All requests that were made without an account. */
  anonymousMax: 10_000,
  /** Requests that one client without an account may make. */
  anonymousPerDayMax: 20,
} as const;

const encryptionCheckShape = /^[0-9a-f]{32}$/;
const ownerProofShape = /^[0-9a-f]{64}$/;

/** @returns what is wrong with each field; empty: nothing. */
export async function findRequestProblems(
  request: NewRequest,
  config: Config,
  isAnonymous: boolean,
): Promise<FieldProblems> {
  const { isRecipient } = await import("@sealpush/age/seal");
  const problems: Problems = {};
  const { titleCharactersMax, noteCharactersMax, answersMax, identitySealedCharactersMax } = requestLimits;
  const { text, file } = config.kinds;
  checkText(problems, "title", { text: request.title, min: 1, max: titleCharactersMax });
  checkText(problems, "note", { text: request.note, min: 0, max: noteCharactersMax });
  if (!request.wantsText && !request.wantsFiles) problems.wantsText = ["must be true if no files are wanted."];
  if (request.wantsText && !text.enabled) problems.wantsText = ["Text pushes are switched off on this server."];
  if (request.wantsFiles && !file.enabled) problems.wantsFiles = ["File pushes are switched off on this server."];
  checkRange(problems, "answersMax", request.answersMax, { min: 1, max: answersMax });
  const { expireAfterDays = daysDefaultOf(config) } = request;
  checkRange(problems, "expireAfterDays", expireAfterDays, { min: 1, max: daysMaxOf(config) });
  if (!isRecipient(request.recipient)) problems.recipient = ["must be an age recipient (age1...)."];
  if (!encryptionCheckShape.test(request.encryptionCheck))
    problems.encryptionCheck = ["must be 32 hexadecimal digits in lower case."];
  if (request.identitySealed.length > identitySealedCharactersMax) {
    problems.identitySealed = [`may have at most ${identitySealedCharactersMax} characters.`];
  } else if (request.identitySealed !== "" && findLock(request.identitySealed) !== "passphrase") {
    problems.identitySealed = ["must be an armored age file under a passphrase."];
  }
  return isAnonymous ? { ...problems, ...findAnonymousProblems(request, config) } : problems;
}

function findAnonymousProblems({ wantsFiles, identitySealed, ownerProof }: NewRequest, config: Config): FieldProblems {
  const problems: Problems = {};
  if (wantsFiles && !config.files.allowAnonymous)
    problems.wantsFiles = ["Files need an API token or a signed-in user."];
  // Everybody who may answer could try passphrases on it: there is no account that it could be kept for.
  if (identitySealed !== "") problems.identitySealed = ["needs an API token or a signed-in user."];
  if (!ownerProofShape.test(ownerProof)) {
    problems.ownerProof = ["must be 64 hexadecimal digits in lower case, without an API token or a signed-in user."];
  }
  return problems;
}

/** How long a request may be open at most. */
export function daysMaxOf({ kinds }: Pick<Config, "kinds">): number {
  return Math.max(kinds.text.days.max, kinds.file.days.max);
}

/** How long a request is open unless its owner says so. */
export function daysDefaultOf(config: Pick<Config, "kinds">): number {
  return Math.min(7, daysMaxOf(config));
}

function checkText(
  problems: Problems,
  field: string,
  { text, min, max }: { readonly text: string; readonly min: number; readonly max: number },
): void {
  const length = codePointsUpTo(max + 1, text);
  if (!text.isWellFormed()) problems[field] = ["contains a lone surrogate, which is not a character."];
  else if (min > 0 && !isSeen(text)) problems[field] = ["can't be blank."];
  else if (length > max) problems[field] = [`may have at most ${max} characters.`];
}
