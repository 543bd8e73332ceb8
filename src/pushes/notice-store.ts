import type { Unit } from "../db/database.ts";
import type { AuditRecord } from "./audit-trail.ts";
import type { DispatchRow } from "./dispatches.ts";
import type { PushRow } from "./push-row.ts";

/** A dispatch on its way in, with the letters that it is for. */
export interface NewDispatch {
  readonly id: number;
  readonly ownerId: number;
  readonly recipientCount: number;
  readonly detailsSealed: Buffer;
  readonly audit: AuditRecord;
  /** Of UTC, counted since the epoch. */
  readonly day: number;
  /** To how many addresses its owner may have links mailed on one day. */
  readonly dailyMax: number;
  /** In the unit that writes it; may be called twice. */
  putLetters(unit: Unit): Promise<void>;
}

export type DispatchRefusal = "ended" | "recipients_used_up" | "day_used_up";

/** Links that were mailed. */
export interface PushDispatches {
  /** Guarded like a claim, and by what its push and its owner have used up. All of it happens, or nothing. */
  put(pushId: number, dispatch: NewDispatch): Promise<"put" | DispatchRefusal>;
  /** In the order in which they were asked for. */
  ofPush(pushId: number): Promise<readonly DispatchRow[]>;
  /** May be told twice. */
  settle(id: number, place: number, fate: "sent" | "given_up", now: number): Promise<void>;
  putOff(id: number): Promise<void>;
}

/** A counted view that the push's owner has not been told of yet. */
export interface ViewNotice {
  readonly sequence: number;
  readonly row: PushRow;
  readonly viewedAt: number;
  readonly address: string;
  readonly userAgent: string;
}

export interface ViewNotices {
  /** A few of them, oldest first as far as it is known. */
  waiting(limit: number): Promise<readonly ViewNotice[]>;
  /**
   * Takes it away with what tells the owner of it: both happen, or nothing.
   * @param put not called when another process has taken it; may be called twice.
   */
  take(notice: Pick<ViewNotice, "sequence" | "row">, put: (unit: Unit) => Promise<void>): Promise<void>;
}
