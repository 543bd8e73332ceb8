import type { KindName } from "../../base/push-kinds.ts";
import type { Transaction } from "../../database/database.ts";

/** Sends emails about pushes. The domain implements it: this room knows neither owners' addresses nor the transport. */
export interface PushEmails {
  readonly mailsLinks: boolean;
  readonly notifiesOfViews: boolean;
  /** The number of addresses to which one owner may have links mailed per day. */
  readonly dailyMax: number;
  /** undefined: the account no longer exists. */
  findOwner(ownerId: number): Promise<EmailOwner | undefined>;
  /** So many emails are queued that no further one should be caused. */
  isFull(): Promise<boolean>;
  /** Runs in the transaction of the link delivery, so both are written or neither. */
  putLink(tx: Transaction, email: LinkEmail, now: number): Promise<void>;
  /** Runs in the transaction that deletes the notification. */
  putViewNotification(tx: Transaction, email: ViewEmail, now: number): Promise<void>;
}

export interface EmailOwner {
  readonly email: string;
  readonly isConfirmed: boolean;
  readonly isDisabled: boolean;
  readonly language: string | null;
}

export interface LinkEmail {
  /** One normalised address. */
  readonly to: string;
  /** The recipient's language; null: none was chosen. */
  readonly locale: string | null;
  readonly linkDeliveryId: number;
  readonly recipientIndex: number;
  readonly pushId: number;
  readonly ownerId: number;
  readonly urlToken: string;
  /** Seals the path of the link under the key of the owner's stored links, for this link delivery. @returns base64. */
  sealPath(path: string): string;
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
  /** "": the push has no name. */
  readonly name: string;
  readonly kind: KindName;
  readonly createdAt: number;
  readonly viewedAt: number;
  readonly address: string;
  readonly userAgent: string;
  readonly views: number;
  readonly expireAfterViews: number;
}
