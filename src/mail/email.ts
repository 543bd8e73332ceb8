import { hourMs } from "../base/clock.ts";
import type { Keyring } from "../crypto/keyring.ts";
import type { SealedColumn } from "../database/sealed-column.ts";

/** What changed in an account, for its owner to know. */
const noticeNames = [
  "new_client",
  "password_changed",
  "email_changed",
  "token_made",
  "token_revoked",
  "factor_added",
  "factor_removed",
  "backup_codes_made",
  "single_sign_on_linked",
  "single_sign_on_unlinked",
] as const;

export type NoticeName = (typeof noticeNames)[number];

export function isNoticeName(value: unknown): value is NoticeName {
  return noticeNames.some((name) => name === value);
}

/** What a mail says. Its sentences are made when it is sent, in the language of its reader. `token` completes a link. */
export type EmailContent =
  | { readonly kind: "confirm_account"; readonly token: string }
  | { readonly kind: "confirm_new_email"; readonly token: string }
  | { readonly kind: "reset_password"; readonly token: string }
  /** Somebody signed up with, or asked to move to, the address of an account that stands. */
  | { readonly kind: "already_registered" }
  /** An operator tries whether mails leave. */
  | { readonly kind: "test" }
  | {
      readonly kind: "notice";
      readonly notice: NoticeName;
      /** What it is about, e.g. the name of a token; "" when there is nothing to name. */
      readonly subject: string;
      readonly at: number;
      readonly address: string;
      readonly userAgent: string;
    }
  | LinkContent
  | {
      /** Somebody has opened a push, and its owner wanted to know. */
      readonly kind: "push_view";
      /** "": it has none. */
      readonly name: string;
      readonly pushKind: PushKind;
      readonly createdAt: number;
      readonly at: number;
      readonly address: string;
      readonly userAgent: string;
      readonly views: number;
      readonly expireAfterViews: number;
    };

/** The link of a push, from its owner to somebody. */
export interface LinkContent {
  readonly kind: "push_link";
  readonly pushId: number;
  readonly linkDeliveryId: number;
  /** Of the recipient in the link delivery. */
  readonly recipientIndex: number;
  /** The link without its origin. */
  readonly path: string;
  readonly passphraseRequired: boolean;
  readonly viewsRemaining: number;
  readonly expiresAt: number;
  /** The sender's address; null: it is not known to be theirs. */
  readonly from: string | null;
}

const pushKinds = ["text", "file", "url", "qr"] as const;
export type PushKind = (typeof pushKinds)[number];

export function isPushKind(value: unknown): value is PushKind {
  return pushKinds.some((kind) => kind === value);
}

export type EmailKind = EmailContent["kind"];

export interface Email {
  /** One normalised e-mail address. */
  readonly to: string;
  /** The reader's language; null: English. */
  readonly language: string | null;
  readonly content: EmailContent;
}

/**
 * How long a link works, counted from the moment its email is put. Whoever makes the links keeps to it: the mail says
 * it, and a email whose link is over is not sent any more.
 */
export const linkLifeMs = {
  confirm_account: 24 * hourMs,
  confirm_new_email: 24 * hourMs,
  reset_password: hourMs,
} as const satisfies Partial<Record<EmailKind, number>>;

/** undefined: it has no link that ends. */
export function linkLifeOf(kind: EmailKind): number | undefined {
  return kind in linkLifeMs ? linkLifeMs[kind as keyof typeof linkLifeMs] : undefined;
}

const emailContext = (id: number) => `outbox:${id}:email`;

/** For the rotation of keys. */
export const sealedEmails: SealedColumn = {
  table: "outbox",
  idColumn: "id",
  sealedColumn: "email_sealed",
  contextOf: (id) => emailContext(Number(id)),
};

export function sealEmail(keyring: Keyring, id: number, letter: Email): Buffer {
  return keyring.seal(emailContext(id), Buffer.from(JSON.stringify(letter), "utf8"));
}

/** undefined: its key is not among the given ones any more, or it holds what this version does not know. */
export function openEmail(keyring: Keyring, id: number, sealed: Uint8Array): Email | undefined {
  const plain = keyring.open(emailContext(id), sealed);
  return plain === undefined ? undefined : emailOf(JSON.parse(plain.toString("utf8")));
}

function emailOf(value: unknown): Email | undefined {
  if (!isObject(value) || typeof value.to !== "string" || !isObject(value.content)) return undefined;
  const content = contentOf(value.content);
  const language = typeof value.language === "string" ? value.language : null;
  return content === undefined ? undefined : { to: value.to, language, content };
}

function contentOf(value: Readonly<Record<string, unknown>>): EmailContent | undefined {
  switch (value.kind) {
    case "confirm_account":
    case "confirm_new_email":
    case "reset_password":
      return typeof value.token === "string" ? { kind: value.kind, token: value.token } : undefined;
    case "already_registered":
    case "test":
      return { kind: value.kind };
    case "notice": {
      const { notice, subject, at, address, userAgent } = value;
      if (!isNoticeName(notice) || typeof at !== "number") return undefined;
      if (typeof subject !== "string" || typeof address !== "string" || typeof userAgent !== "string") return undefined;
      return { kind: "notice", notice, subject, at, address, userAgent };
    }
    case "push_link":
      return linkContentOf(value);
    case "push_view":
      return viewContentOf(value);
    default:
      return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function linkContentOf(value: Fields): EmailContent | undefined {
  const { pushId, linkDeliveryId, recipientIndex, path, passphraseRequired, viewsRemaining, expiresAt, from } = value;
  if (typeof pushId !== "number" || typeof linkDeliveryId !== "number" || typeof recipientIndex !== "number")
    return undefined;
  if (typeof path !== "string" || typeof passphraseRequired !== "boolean") return undefined;
  if (typeof viewsRemaining !== "number" || typeof expiresAt !== "number") return undefined;
  const sender = typeof from === "string" ? from : null;
  const limits = { passphraseRequired, viewsRemaining, expiresAt };
  return { kind: "push_link", pushId, linkDeliveryId, recipientIndex, path, ...limits, from: sender };
}

function viewContentOf(value: Fields): EmailContent | undefined {
  const { name, pushKind, createdAt, at, address, userAgent, views, expireAfterViews } = value;
  if (typeof name !== "string" || !isPushKind(pushKind)) return undefined;
  if (typeof createdAt !== "number" || typeof at !== "number") return undefined;
  if (typeof address !== "string" || typeof userAgent !== "string") return undefined;
  if (typeof views !== "number" || typeof expireAfterViews !== "number") return undefined;
  return { kind: "push_view", name, pushKind, createdAt, at, address, userAgent, views, expireAfterViews };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
