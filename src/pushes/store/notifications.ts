import { type Database, OutcomeUnknownError, type Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { NewRowOf } from "../../database/table.ts";
import { recipientsMax } from "../create/limits.ts";
import type {
  LinkDeliveryRefusal,
  NewLinkDelivery,
  PushLinkDeliveries,
  ViewNotification,
  ViewNotifications,
} from "../notification-store.ts";
import type { PushLists } from "../store.ts";
import { linkDeliveries } from "./tables.ts";
import { writeEntry } from "./write-operations.ts";

/** Undoes the transaction: nothing is logged, counted or mailed. */
export class LinkDeliveryRefusedError extends Error {
  override readonly name = "LinkDeliveryRefusedError";
  readonly reason: LinkDeliveryRefusal;

  constructor(reason: LinkDeliveryRefusal) {
    super(`A linkDelivery was refused: ${reason}.`);
    this.reason = reason;
  }
}

// The guard, and the lock under which the recipients of a push are counted.
const countEntry = sql<[pushId: number, ownerId: number, now: number], { sequence: number }>(
  `UPDATE pushes SET audit_count = audit_count + 1
   WHERE id = ? AND owner_id = ? AND ended_at IS NULL AND expires_at > ? RETURNING audit_count AS sequence`,
);
const countRecipients = sql<[pushId: number], { recipients: number }>(
  "SELECT coalesce(sum(recipient_count), 0) AS recipients FROM link_deliveries WHERE push_id = ?",
);
const insertRow = linkDeliveries.insert();
/** No row comes back when they would be more than somebody may have mailed to on one day. */
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

/** Inside a transaction; its audit entry is the caller's. */
export async function insertLinkDelivery(tx: Transaction, row: NewRowOf<typeof linkDeliveries>): Promise<void> {
  await tx.run(insertRow, ...linkDeliveries.values(row));
}

/**
 * Inside a transaction: a link delivery of a living push, its audit entry and its emails. The push's row is locked first, by every
 * transaction that touches it. @throws DispatchRefusedError.
 */
export async function putLinkDelivery(tx: Transaction, pushId: number, linkDelivery: NewLinkDelivery): Promise<void> {
  const { ownerId, recipientCount, audit } = linkDelivery;
  const counted = await tx.one(countEntry, pushId, ownerId, audit.at);
  if (counted === undefined) throw new LinkDeliveryRefusedError("ended");
  const { recipients } = (await tx.one(countRecipients, pushId)) ?? { recipients: 0 };
  if (recipients + recipientCount > recipientsMax) throw new LinkDeliveryRefusedError("recipients_used_up");
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

export function createLinkDeliveries(db: Database): PushLinkDeliveries {
  return {
    async put(pushId, linkDelivery) {
      try {
        await db.write((tx) => putLinkDelivery(tx, pushId, linkDelivery));
        return "put";
      } catch (error) {
        if (error instanceof LinkDeliveryRefusedError) return error.reason;
        // Ids are used once: a row of this id is this link delivery.
        const isThere =
          error instanceof OutcomeUnknownError && (await db.lookUp.one(byId, linkDelivery.id)) !== undefined;
        if (!isThere) throw error;
        return "put";
      }
    },
    ofPush: async (pushId) => (await db.read.all(ofPush, pushId)).map((row) => linkDeliveries.decode(row)),
    async settle(id, place, fate, now) {
      const bit = 1 << place;
      await db
        .autocommit({ retry: "idempotent" })
        .run(settle, fate === "sent" ? bit : 0, fate === "given_up" ? bit : 0, now, id);
    },
    async putOff(id) {
      await db.autocommit({ retry: "idempotent" }).run(notePutOff, id);
    },
  };
}

interface RawNotice extends Omit<ViewNotification, "row"> {
  readonly pushId: number;
}

export const noteView = sql<[pushId: number, sequence: number]>(
  "INSERT INTO view_notifications (push_id, sequence) VALUES (?, ?)",
);
const oldest = sql<[limit: number], RawNotice>(
  `SELECT view_notifications.push_id AS pushId, view_notifications.sequence, audit_entries.created_at AS viewedAt,
     audit_entries.address, audit_entries.user_agent AS userAgent
   FROM view_notifications JOIN audit_entries ON audit_entries.push_id = view_notifications.push_id
     AND audit_entries.sequence = view_notifications.sequence
   ORDER BY view_notifications.push_id, view_notifications.sequence LIMIT ?`,
);
const takeNotice = sql<[pushId: number, sequence: number]>(
  "DELETE FROM view_notifications WHERE push_id = ? AND sequence = ?",
);
export const deleteViewNotifications = sql<[pushId: number]>("DELETE FROM view_notifications WHERE push_id = ?");

export function createViewNotifications(db: Database, lists: Pick<PushLists, "byIds">): ViewNotifications {
  return {
    async waiting(limit) {
      const found = await db.read.all(oldest, limit);
      if (found.length === 0) return [];
      const rows = new Map(
        (await lists.byIds([...new Set(found.map(({ pushId }) => pushId))])).map((row) => [row.id, row]),
      );
      return found.flatMap(({ pushId, ...notice }) => {
        const row = rows.get(pushId);
        return row === undefined ? [] : [{ ...notice, row }];
      });
    },
    async take({ sequence, row }, put) {
      await db.write(async (tx) => {
        if ((await tx.run(takeNotice, row.id, sequence)) === 1) await put(tx);
      });
    },
  };
}
