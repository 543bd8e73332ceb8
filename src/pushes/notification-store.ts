import type { Transaction } from "../database/database.ts";
import type { AuditRecord } from "./audit/audit-trail.ts";
import type { LinkDeliveryRow } from "./notifications/link-deliveries.ts";
import type { PushRow } from "./store/tables.ts";

/** A link delivery on its way in, with the emails that it is for. */
export interface NewLinkDelivery {
  readonly id: number;
  readonly ownerId: number;
  readonly recipientCount: number;
  readonly detailsSealed: Buffer;
  readonly audit: AuditRecord;
  /** Of UTC, counted since the epoch. */
  readonly day: number;
  /** To how many addresses its owner may have links mailed on one day. */
  readonly dailyMax: number;
  /** In the transaction that writes it; may be called twice. */
  putEmails(tx: Transaction): Promise<void>;
}

export type LinkDeliveryRefusal = "ended" | "recipients_used_up" | "day_used_up";

/** Links that were mailed. */
export interface PushLinkDeliveries {
  /** Guarded like a claim, and by what its push and its owner have used up. All of it happens, or nothing. */
  put(pushId: number, linkDelivery: NewLinkDelivery): Promise<"put" | LinkDeliveryRefusal>;
  /** In the order in which they were asked for. */
  ofPush(pushId: number): Promise<readonly LinkDeliveryRow[]>;
  /** May be told twice. */
  settle(id: number, place: number, fate: "sent" | "given_up", now: number): Promise<void>;
  putOff(id: number): Promise<void>;
}

/** A counted view that the push's owner has not been told of yet. */
export interface ViewNotification {
  readonly sequence: number;
  readonly row: PushRow;
  readonly viewedAt: number;
  readonly address: string;
  readonly userAgent: string;
}

export interface ViewNotifications {
  /** A few of them, oldest first as far as it is known. */
  waiting(limit: number): Promise<readonly ViewNotification[]>;
  /**
   * Takes it away with what tells the owner of it: both happen, or nothing.
   * @param put not called when another process has taken it; may be called twice.
   */
  take(notice: Pick<ViewNotification, "sequence" | "row">, put: (tx: Transaction) => Promise<void>): Promise<void>;
}
