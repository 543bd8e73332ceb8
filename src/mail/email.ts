import { hourMs } from "../base/clock.ts";

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
