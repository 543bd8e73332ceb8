import type { Actor } from "../actor.ts";
import type { TrailRow } from "../store/tables.ts";
import { type AuditKind, auditKinds } from "../stored-values.ts";

export type LinkDeliveryStatus = "pending" | "processing" | "completed" | "partially_failed" | "failed";

/** The outcome of the emails of one link delivery. */
export interface LinkDeliveryReport {
  /** As the owner entered them, separated by commas. */
  readonly recipients: string;
  readonly locale: string | null;
  readonly status: LinkDeliveryStatus;
  /** Addresses, separated by commas; null: no email was tried yet. */
  readonly successfulSends: string | null;
  /** When the last email was sent or given up; null: not yet. */
  readonly proceedAt: number | null;
  readonly errorMessage: string | null;
}

export interface AuditEntry extends Omit<TrailRow, "sequence" | "userId"> {
  /** Only for the kind `creation_email_send`. */
  readonly linkDelivery?: LinkDeliveryReport;
}

/** A push keeps this many single entries. Further events of a repeatable kind are counted in one entry of that kind. */
export const auditEntriesMax = 1_000;

const foldable: ReadonlySet<AuditKind> = new Set([
  "failed_view",
  "failed_passphrase",
  "admin_view",
  "owner_view",
  "download",
  "repeated_view",
]);

/** An event in the form that the store writes. */
export interface AuditRecord extends Pick<TrailRow, "kind" | "userId" | "address" | "userAgent" | "referrer"> {
  readonly at: number;
}

const textCharactersMax = 255;

export function auditRecord(kind: AuditKind, actor: Actor, at: number): AuditRecord {
  return {
    kind,
    userId: actor.answersRequest !== undefined ? null : (actor.user?.id ?? null),
    address: actor.address,
    userAgent: cutText(actor.userAgent),
    referrer: cutText(cleanReferrer(actor.referrer, actor.ownOrigin)),
    at,
  };
}

export function isFoldable(kind: AuditKind): boolean {
  return foldable.has(kind);
}

/** @param count events of this push so far, including this one. */
export function folds(kind: AuditKind, count: number): boolean {
  return count > auditEntriesMax && isFoldable(kind);
}

/** The sequence of the entry that counts further events of a kind. It is negative: single entries count from 1. */
export function foldedSequence(kind: AuditKind): number {
  return -(auditKinds[kind] + 1);
}

/** Truncates a text to the length that an audit entry stores. */
export function cutText(text: string): string {
  return text.length <= textCharactersMax
    ? text
    : [...text.slice(0, textCharactersMax * 2)].slice(0, textCharactersMax).join("");
}

const tokenShaped = /[a-z0-9_-]{16,}/gi;
/** Real tokens vary more: a run of 16 characters that repeats one or two of them is padding. */
const tokenVarietyMin = 4;
/** Mail gateways put the link that they check into their own address, encoded once or twice. */
const decodingsMax = 3;

/** Recognises the link paths of this kind of server, and long unbroken runs of token characters. */
function isSecretShaped(rest: string): boolean {
  if (/\/(?:p|f|r)\//i.test(rest)) return true;
  return (rest.match(tokenShaped) ?? []).some((run) => new Set(run).size >= tokenVarietyMin && !isTitle(run));
}

/** Words and years with hyphens, as in the address of an article. */
function isTitle(run: string): boolean {
  const parts = run.split(/[-_]+/).filter((part) => part !== "");
  const letters = parts.reduce((sum, part) => sum + part.length, 0);
  return letters >= 3 * parts.length && parts.every((part) => /^(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,15}|\d{1,4})$/.test(part));
}

/** @returns the text, and what is encoded in it. Malformed escapes stay as they are. */
function decodings(text: string): readonly string[] {
  const found = [text];
  for (let decoded = text; found.length <= decodingsMax && decoded.includes("%"); found.push(decoded)) {
    decoded = decoded.replace(/%([0-7][0-9a-f])/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  }
  return found;
}

const schemeAndHost = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#@]*@)?([^/?#@]*)(.*)$/is;
const hostShape = /^[a-z0-9._~:[\]-]*$/i;

/**
 * A referrer may itself be a secret link, of this server or another, and would outlive the push in the audit trail.
 * Only the origin of such a referrer, and of this server's own pages, is kept. Every other one is kept as it was sent, because
 * owners recognise mail gateways and chats by them; only credentials in it are removed.
 */
export function cleanReferrer(referrer: string, ownOrigin: string): string {
  if (referrer === "") return "";
  const [, scheme = "", host = "", rest = referrer] = schemeAndHost.exec(referrer) ?? [];
  if (ownOrigin !== "" && URL.parse(referrer)?.origin === ownOrigin) return ownOrigin;
  // Other schemes have the name of a program there.
  if (!hostShape.test(host) || (!/^https?:/i.test(scheme) && isSecretShaped(host))) return "";
  const origin = `${scheme}${host}`;
  return decodings(rest).some(isSecretShaped) ? origin : `${origin}${rest}`;
}
