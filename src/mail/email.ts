import { dayMs, hourMs, minuteMs } from "../base/clock.ts";
import { isFields } from "../base/json.ts";
import { isKindName } from "../base/push-kinds.ts";
import type { Keyring } from "../crypto/keyring.ts";
import { outbox } from "./store/emails.ts";

/** Changes of an account that its owner is notified of. */
const accountChanges = [
  "new_client",
  "password_changed",
  "email_changed",
  "email_assigned",
  "token_made",
  "token_revoked",
  "factor_added",
  "factor_removed",
  "backup_codes_made",
  "single_sign_on_linked",
  "single_sign_on_unlinked",
] as const;

export type AccountChange = (typeof accountChanges)[number];

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const isFlag = (value: unknown) => typeof value === "boolean";
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);
const isAccountChange = (value: unknown): value is AccountChange => accountChanges.some((name) => name === value);

const isBreakGlassEvent = (value: unknown): value is "made" | "used" => value === "made" || value === "used";

/**
 * What each kind of email needs besides its kind. The text is composed when the email is sent, in the recipient's
 * language. `token` completes a link; `address` and `userAgent` describe the client that caused the email.
 */
const contents = {
  confirm_account: { token: isText },
  confirm_new_email: { token: isText },
  /** Asks the old address whether an administrator may change it to `email`. */
  approve_new_email: { token: isText, email: isText },
  reset_password: { token: isText },
  /** Proves whose account an identity of the provider is to be linked to. */
  link_sign_on: { token: isText },
  /** An administrator has created the account; the link chooses its password. */
  invitation: { token: isText },
  /** Somebody signed up with, or wanted to change to, an email address that already has an account. */
  already_registered: {},
  /** Proves that the user of a session is there. */
  sign_on_code: { code: isText },
  /** For administrators. The link is in the shell alone. */
  break_glass: { event: isBreakGlassEvent, account: isText, at: isNumber, address: isText, userAgent: isText },
  /** An operator tests whether this server can send email. */
  test: {},
  account_notification: {
    change: isAccountChange,
    /** Name of the token or factor concerned; "": none. */
    subject: isText,
    at: isNumber,
    address: isText,
    userAgent: isText,
  },
  /** The link of a push, from its owner to a recipient. */
  push_link: {
    pushId: isNumber,
    linkDeliveryId: isNumber,
    /** Index of the recipient in the link delivery. */
    recipientIndex: isNumber,
    ownerId: isNumber,
    /** The link without its origin, in base64: sealed under the key of the owner's stored links, which is opened when the email is sent. */
    pathSealed: isText,
    passphraseRequired: isFlag,
    viewsRemaining: isNumber,
    expiresAt: isNumber,
    /** The sender's email address; null: it is not confirmed. */
    from: isTextOrNull,
  },
  /** View notification: a push was viewed, and its owner asked to be notified. */
  push_view: {
    /** "": the push has no name. */
    name: isText,
    pushKind: isKindName,
    createdAt: isNumber,
    at: isNumber,
    address: isText,
    userAgent: isText,
    views: isNumber,
    expireAfterViews: isNumber,
  },
  request_answered: {
    title: isText,
    /** The page of its answers, without its origin and without the key, which only the owner has. */
    path: isText,
    at: isNumber,
  },
};

export type EmailKind = keyof typeof contents;

type Checked<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends (value: unknown) => value is infer Value ? Value : never;
};

export type ContentOf<Kind extends EmailKind> = { readonly kind: Kind } & Checked<(typeof contents)[Kind]>;

export type EmailContent = { [Kind in EmailKind]: ContentOf<Kind> }[EmailKind];

/** The content of an email that is about to be sent. */
export type ReadyContent =
  | Exclude<EmailContent, { readonly kind: "push_link" }>
  | (ContentOf<"push_link"> & { readonly path: string });

export interface Email {
  /** One normalised email address. */
  readonly to: string;
  /** The recipient's language tag; null: the server's default language. */
  readonly language: string | null;
  readonly content: EmailContent;
}

/**
 * How long a link works after its email was queued. The code that creates the links enforces the same limits: the email
 * states them, and an email whose link has expired is not sent.
 */
export const linkLifeMs = {
  confirm_account: 24 * hourMs,
  confirm_new_email: 24 * hourMs,
  approve_new_email: 24 * hourMs,
  reset_password: hourMs,
  invitation: 3 * dayMs,
  /** As long as the step in the browser. */
  link_sign_on: 10 * minuteMs,
} as const satisfies Partial<Record<EmailKind, number>>;

/** @returns milliseconds; undefined: emails of this kind have no link that expires by itself. */
export function linkLifeOf(kind: EmailKind): number | undefined {
  const lifeOf: Readonly<Partial<Record<EmailKind, number>>> = linkLifeMs;
  return lifeOf[kind];
}

export function sealEmail(keyring: Keyring, id: number, message: Email): Buffer {
  return keyring.seal(outbox.seals.email, { id, ownerId: null }, Buffer.from(JSON.stringify(message), "utf8"));
}

/** @returns undefined: its master key is not configured any more, or another version of this program wrote it. */
export function openEmail(keyring: Keyring, id: number, sealed: Uint8Array): Email | undefined {
  const plain = keyring.open(outbox.seals.email, { id, ownerId: null }, sealed);
  const message: unknown = plain === undefined ? undefined : JSON.parse(plain.toString("utf8"));
  return isEmail(message) ? message : undefined;
}

function isEmail(value: unknown): value is Email {
  return isFields(value) && isText(value.to) && isTextOrNull(value.language) && isContent(value.content);
}

function isContent(value: unknown): value is EmailContent {
  if (!isFields(value) || !isKind(value.kind)) return false;
  return Object.entries(contents[value.kind]).every(([name, isValid]) => isValid(value[name]));
}

function isKind(value: unknown): value is EmailKind {
  return isText(value) && Object.hasOwn(contents, value);
}
