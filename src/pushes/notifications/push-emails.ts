import type { Transaction } from "../../database/database.ts";
import type { KindName } from "../push.ts";

/** Mails about pushes, as the domain sends them: this room knows neither addresses of owners nor how a mail leaves. */
export interface PushEmails {
  /** Whether owners may have links mailed here. */
  readonly mailsLinks: boolean;
  /** Whether this server sends view notifications. */
  readonly notifiesOfViews: boolean;
  /** To how many addresses one owner may have links mailed on one day. */
  readonly dailyMax: number;
  /** undefined: there is no such account any more. */
  findOwner(ownerId: number): Promise<EmailOwner | undefined>;
  /** @throws AppError unavailable when so many mails wait already that more should not. */
  assertRoom(): Promise<void>;
  /** In the transaction of its link delivery: both are written, or neither. */
  putLink(tx: Transaction, email: LinkEmail, now: number): Promise<void>;
  /** In the transaction that deletes the notification. */
  putViewNotification(tx: Transaction, email: ViewEmail, now: number): Promise<void>;
}

export interface EmailOwner {
  readonly email: string;
  /** Its owner has proven it. */
  readonly isConfirmed: boolean;
  readonly language: string | null;
}

/** One mail of a link delivery. */
export interface LinkEmail {
  /** One normalised address. */
  readonly to: string;
  /** The reader's language; null: none was chosen. */
  readonly locale: string | null;
  readonly linkDeliveryId: number;
  /** Of the recipient in the link delivery. */
  readonly recipientIndex: number;
  readonly pushId: number;
  readonly urlToken: string;
  readonly retrievalStep: boolean;
  readonly passphraseRequired: boolean;
  readonly viewsRemaining: number;
  readonly expiresAt: number;
  /** The sender's address; null: it is not confirmed. */
  readonly from: string | null;
}

export interface ViewEmail {
  readonly to: string;
  readonly language: string | null;
  /** "": it has none. */
  readonly name: string;
  readonly kind: KindName;
  readonly createdAt: number;
  readonly viewedAt: number;
  readonly address: string;
  readonly userAgent: string;
  readonly views: number;
  readonly expireAfterViews: number;
}
