import { type Database, OutcomeUnknownError, type Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { NewRowOf } from "../../database/table.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import { pushLimits } from "../create/limits.ts";
import type { PushLists } from "./lists.ts";
import { linkDeliveries, type PushRow, viewNotifications } from "./tables.ts";
import { writeEntry } from "./write-operations.ts";

/** A link delivery to write, with its emails. */
export interface NewLinkDelivery {
  readonly id: number;
  readonly ownerId: number;
  readonly recipientCount: number;
  readonly detailsSealed: Buffer;
  readonly audit: AuditRecord;
  /** The UTC day, counted since the epoch. */
  readonly day: number;
  /** The number of addresses to which the owner may have links mailed per day. */
  readonly dailyMax: number;
  /** Runs in the transaction of the link delivery; may be called twice. */
  putEmails(tx: Transaction): Promise<void>;
}

export type LinkDeliveryRefusal = "ended" | "recipients_used_up" | "day_used_up";

/** Undoes the transaction, so nothing is logged, counted or mailed. */
export class LinkDeliveryRefusedError extends Error {
  override readonly name = "LinkDeliveryRefusedError";
  readonly reason: LinkDeliveryRefusal;

  constructor(reason: LinkDeliveryRefusal) {
    super(`A link delivery was refused: ${reason}.`);
    this.reason = reason;
  }
}

// The guard. It also locks the push while its recipients are counted.
const countEntry = sql<[pushId: number, ownerId: number, now: number], { sequence: number }>(
  `UPDATE pushes SET audit_count = audit_count + 1
   WHERE id = ? AND owner_id = ? AND ended_at IS NULL AND expires_at > ? RETURNING audit_count AS sequence`,
);
const countRecipients = sql<[pushId: number], { recipients: number }>(
  "SELECT coalesce(sum(recipient_count), 0) AS recipients FROM link_deliveries WHERE push_id = ?",
);
const insertRow = linkDeliveries.insert();
/** Returns no row if the recipients would exceed the owner's daily limit. */
const countDay = sql<[ownerId: number, day: number, recipients: number, dailyMax: number], { recipients: number }>(
  `INSERT INTO link_delivery_days AS known (owner_id, day, recipient_count) VALUES (?, ?, ?)
   ON CONFLICT (owner_id) DO UPDATE SET day = excluded.day,
     recipient_count = excluded.recipient_count + CASE WHEN known.day = excluded.day THEN known.recipient_count ELSE 0 END
   WHERE known.day <> excluded.day OR known.recipient_count + excluded.recipient_count <= ?
   RETURNING recipient_count AS recipients`,
);
const ofPush = linkDeliveries.select<[pushId: number]>("WHERE push_id = ? ORDER BY sequence");
const byId = sql<[id: number], { id: number }>("SELECT id FROM link_deliveries WHERE id = ?");
const settle = sql<[sent: number, givenUp: number, settledAt: number, id: number]>(
  "UPDATE link_deliveries SET sent = sent | ?, given_up = given_up | ?, settled_at = ? WHERE id = ?",
);
const notePutOff = sql<[id: number]>("UPDATE link_deliveries SET put_off = 1 WHERE id = ?");

export const deleteLinkDeliveries = sql<[pushId: number]>("DELETE FROM link_deliveries WHERE push_id = ?");
export const deleteLinkDeliveryDay = sql<[ownerId: number]>("DELETE FROM link_delivery_days WHERE owner_id = ?");

/** Runs inside a transaction. The caller writes the audit entry. */
export async function insertLinkDelivery(tx: Transaction, row: NewRowOf<typeof linkDeliveries>): Promise<void> {
  await tx.run(insertRow, ...linkDeliveries.values(row));
}

/**
 * Runs inside a transaction: writes a link delivery of a live push, its audit entry and its emails. The push's row is locked
 * first, as in every transaction that changes it. @throws LinkDeliveryRefusedError.
 */
export async function putLinkDelivery(tx: Transaction, pushId: number, linkDelivery: NewLinkDelivery): Promise<void> {
  const { ownerId, recipientCount, audit } = linkDelivery;
  const counted = await tx.one(countEntry, pushId, ownerId, audit.at);
  if (counted === undefined) throw new LinkDeliveryRefusedError("ended");
  const { recipients } = (await tx.one(countRecipients, pushId)) ?? { recipients: 0 };
  if (recipients + recipientCount > pushLimits.recipientsMax) throw new LinkDeliveryRefusedError("recipients_used_up");
  const isWithinDay =
    recipientCount <= linkDelivery.dailyMax &&
    (await tx.one(countDay, ownerId, linkDelivery.day, recipientCount, linkDelivery.dailyMax)) !== undefined;
  if (!isWithinDay) throw new LinkDeliveryRefusedError("day_used_up");
  await writeEntry(tx, pushId, counted.sequence, audit);
  await insertLinkDelivery(tx, {
    id: linkDelivery.id,
    pushId,
    sequence: counted.sequence,
    recipientCount,
    detailsSealed: linkDelivery.detailsSealed,
  });
  await linkDelivery.putEmails(tx);
}

export function createLinkDeliveries(db: Database) {
  return {
    /** Writes a link delivery atomically. Guarded like a claim, and by the limits of the push and its owner. */
    async put(pushId: number, linkDelivery: NewLinkDelivery): Promise<"put" | LinkDeliveryRefusal> {
      try {
        await db.write((tx) => putLinkDelivery(tx, pushId, linkDelivery));
        return "put";
      } catch (error) {
        if (error instanceof LinkDeliveryRefusedError) return error.reason;
        // Ids are used once, so a row with this id is this link delivery.
        const isThere =
          error instanceof OutcomeUnknownError && (await db.lookUp.one(byId, linkDelivery.id)) !== undefined;
        if (!isThere) throw error;
        return "put";
      }
    },
    /** In the order of the requests. */
    ofPush: async (pushId: number) => (await db.read.all(ofPush, pushId)).map((row) => linkDeliveries.decode(row)),
    /** A repeated call changes nothing. @param recipientIndex from 0. */
    async settle(id: number, recipientIndex: number, fate: "sent" | "given_up", now: number): Promise<void> {
      const bit = 1 << recipientIndex;
      await db
        .autocommit({ retry: "idempotent" })
        .run(settle, fate === "sent" ? bit : 0, fate === "given_up" ? bit : 0, now, id);
    },
    async putOff(id: number): Promise<void> {
      await db.autocommit({ retry: "idempotent" }).run(notePutOff, id);
    },
  };
}

/** A counted view whose owner has not been notified yet. */
export interface ViewNotification {
  readonly sequence: number;
  readonly row: PushRow;
  readonly viewedAt: number;
  readonly address: string;
  readonly userAgent: string;
}

type StoredNotification = Omit<ViewNotification, "row"> & { readonly pushId: number };

export const insertViewNotification = sql<[pushId: number, sequence: number]>(viewNotifications.insertText());
const oldest = sql<[limit: number], StoredNotification>(
  `SELECT view_notifications.push_id AS pushId, view_notifications.sequence, audit_entries.created_at AS viewedAt,
     audit_entries.address, audit_entries.user_agent AS userAgent
   FROM view_notifications JOIN audit_entries ON audit_entries.push_id = view_notifications.push_id
     AND audit_entries.sequence = view_notifications.sequence
   ORDER BY view_notifications.push_id, view_notifications.sequence LIMIT ?`,
);
const takeNotification = sql<[pushId: number, sequence: number]>(
  "DELETE FROM view_notifications WHERE push_id = ? AND sequence = ?",
);
export const deleteViewNotifications = sql<[pushId: number]>("DELETE FROM view_notifications WHERE push_id = ?");

export function createViewNotifications(db: Database, lists: Pick<PushLists, "byIds">) {
  return {
    /** Some of the notifications, approximately oldest first. */
    async waiting(limit: number): Promise<readonly ViewNotification[]> {
      const found = await db.read.all(oldest, limit);
      if (found.length === 0) return [];
      const rows = new Map(
        (await lists.byIds([...new Set(found.map(({ pushId }) => pushId))])).map((row) => [row.id, row]),
      );
      return found.flatMap(({ pushId, ...notification }) => {
        const row = rows.get(pushId);
        return row === undefined ? [] : [{ ...notification, row }];
      });
    },
    /**
     * Deletes the notification and runs the writes of `put` in one transaction.
     * @param put not called when another process has taken the notification; may be called twice.
     */
    async take(
      { sequence, row }: Pick<ViewNotification, "sequence" | "row">,
      put: (tx: Transaction) => Promise<void>,
    ): Promise<void> {
      await db.write(async (tx) => {
        if ((await tx.run(takeNotification, row.id, sequence)) === 1) await put(tx);
      });
    },
  };
}
