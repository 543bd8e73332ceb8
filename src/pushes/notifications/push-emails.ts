import type { Transaction } from "../../database/database.ts";
import type { KindName } from "../push.ts";

/** Mails about pushes, as the domain sends them: this room knows neither addresses of owners nor how a mail leaves. */
export interface PushEmails {
  /** Whether owners may have links mailed here. */
  readonly mailsLinks: boolean;
  /** Whether owners can be told of views here. */
  readonly tellsOfViews: boolean;
  /** To how many addresses one owner may have links mailed on one day. */
  readonly dailyMax: number;
  /** undefined: there is no such account any more. */
  findOwner(ownerId: number): Promise<EmailOwner | undefined>;
  /** @throws AppError unavailable when so many mails wait already that more should not. */
  assertRoom(): Promise<void>;
  /** In the transaction of its link delivery: the email stands when that stands. */
  putLink(tx: Transaction, letter: LinkEmail, now: number): Promise<void>;
  /** In the transaction that takes the notice away. */
  putViewNotification(tx: Transaction, letter: ViewEmail, now: number): Promise<void>;
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
  /** Who sends it; null: nobody knows whether that address is theirs. */
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
