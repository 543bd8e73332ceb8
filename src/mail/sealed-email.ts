import type { Keyring } from "../crypto/keyring.ts";
import type { SealedColumn } from "../database/sealed-column.ts";
import { type Email, type EmailContent, isNoticeName, isPushKind } from "./email.ts";

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
