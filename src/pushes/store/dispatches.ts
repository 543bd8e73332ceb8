import { type Database, OutcomeUnknownError, type Unit } from "../../db/database.ts";
import { sql } from "../../db/statement.ts";
import { type DispatchRow, recipientsMax } from "../dispatches.ts";
import type { DispatchRefusal, NewDispatch, PushDispatches } from "../notice-store.ts";
import { writeEntry } from "./entries.ts";

/** Undoes the unit: nothing is logged, counted or mailed. */
export class DispatchRefusedError extends Error {
  override readonly name = "DispatchRefusedError";
  readonly reason: DispatchRefusal;

  constructor(reason: DispatchRefusal) {
    super(`A dispatch was refused: ${reason}.`);
    this.reason = reason;
  }
}

// The guard, and the lock under which the recipients of a push are counted.
const countEntry = sql<[pushId: number, ownerId: number, now: number], { sequence: number }>(
  `UPDATE pushes SET audit_count = audit_count + 1
   WHERE id = ? AND owner_id = ? AND ended_at IS NULL AND expires_at > ? RETURNING audit_count AS sequence`,
);
const countRecipients = sql<[pushId: number], { recipients: number }>(
  "SELECT coalesce(sum(recipient_count), 0) AS recipients FROM dispatches WHERE push_id = ?",
);
const insertRow = sql<
  [
    id: number,
    pushId: number,
    sequence: number,
    recipientCount: number,
    detailsSealed: Buffer,
    sent: number,
    givenUp: number,
    putOff: number,
    settledAt: number | null,
  ]
>(
  `INSERT INTO dispatches (id, push_id, sequence, recipient_count, details_sealed, sent, given_up, put_off, settled_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
/** No row comes back when they would be more than somebody may have mailed to on one day. */
const countDay = sql<[ownerId: number, day: number, recipients: number, dailyMax: number], { recipients: number }>(
  `INSERT INTO dispatch_days AS known (owner_id, day, recipient_count) VALUES (?, ?, ?)
   ON CONFLICT (owner_id) DO UPDATE SET day = excluded.day,
     recipient_count = excluded.recipient_count + CASE WHEN known.day = excluded.day THEN known.recipient_count ELSE 0 END
   WHERE known.day <> excluded.day OR known.recipient_count + excluded.recipient_count <= ?
   RETURNING recipient_count AS recipients`,
);
const columns = `id, push_id AS pushId, sequence, recipient_count AS recipientCount, details_sealed AS detailsSealed,
  sent, given_up AS givenUp, put_off AS putOff, settled_at AS settledAt`;
const ofPush = sql<[pushId: number], Omit<DispatchRow, "putOff"> & { readonly putOff: number }>(
  `SELECT ${columns} FROM dispatches WHERE push_id = ? ORDER BY sequence`,
);
const byId = sql<[id: number], { id: number }>("SELECT id FROM dispatches WHERE id = ?");
const settle = sql<[sent: number, givenUp: number, settledAt: number, id: number]>(
  "UPDATE dispatches SET sent = sent | ?, given_up = given_up | ?, settled_at = ? WHERE id = ?",
);
const notePutOff = sql<[id: number]>("UPDATE dispatches SET put_off = 1 WHERE id = ?");

export const deleteDispatches = sql<[pushId: number]>("DELETE FROM dispatches WHERE push_id = ?");
export const deleteDispatchDay = sql<[ownerId: number]>("DELETE FROM dispatch_days WHERE owner_id = ?");

/** Inside a unit; its audit entry is the caller's. */
export async function insertDispatch(unit: Unit, row: DispatchRow): Promise<void> {
  const { id, pushId, sequence, recipientCount, detailsSealed, sent, givenUp, putOff, settledAt } = row;
  const counts = [sent, givenUp, putOff ? 1 : 0] as const;
  await unit.run(insertRow, id, pushId, sequence, recipientCount, detailsSealed, ...counts, settledAt);
}

/**
 * Inside a unit: a dispatch of a living push, its audit entry and its letters. The push's row is locked first, by every
 * unit that touches it. @throws DispatchRefusedError.
 */
export async function putDispatch(unit: Unit, pushId: number, dispatch: NewDispatch): Promise<void> {
  const { ownerId, recipientCount, audit } = dispatch;
  const counted = await unit.one(countEntry, pushId, ownerId, audit.at);
  if (counted === undefined) throw new DispatchRefusedError("ended");
  const { recipients } = (await unit.one(countRecipients, pushId)) ?? { recipients: 0 };
  if (recipients + recipientCount > recipientsMax) throw new DispatchRefusedError("recipients_used_up");
  const isWithinDay =
    recipientCount <= dispatch.dailyMax &&
    (await unit.one(countDay, ownerId, dispatch.day, recipientCount, dispatch.dailyMax)) !== undefined;
  if (!isWithinDay) throw new DispatchRefusedError("day_used_up");
  await writeEntry(unit, pushId, counted.sequence, audit);
  await insertDispatch(unit, {
    ...{ id: dispatch.id, pushId, sequence: counted.sequence, recipientCount },
    ...{ detailsSealed: dispatch.detailsSealed, sent: 0, givenUp: 0, putOff: false, settledAt: null },
  });
  await dispatch.putLetters(unit);
}

export function createDispatches(db: Database): PushDispatches {
  return {
    async put(pushId, dispatch) {
      try {
        await db.write((unit) => putDispatch(unit, pushId, dispatch));
        return "put";
      } catch (error) {
        if (error instanceof DispatchRefusedError) return error.reason;
        // Ids are used once: a row of this id is this dispatch.
        const isThere =
          error instanceof OutcomeUnknownError && (await db.patientRead.one(byId, dispatch.id)) !== undefined;
        if (!isThere) throw error;
        return "put";
      }
    },
    ofPush: async (pushId) => (await db.read.all(ofPush, pushId)).map((row) => ({ ...row, putOff: row.putOff === 1 })),
    async settle(id, place, fate, now) {
      const bit = 1 << place;
      await db.idempotent.run(settle, fate === "sent" ? bit : 0, fate === "given_up" ? bit : 0, now, id);
    },
    async putOff(id) {
      await db.idempotent.run(notePutOff, id);
    },
  };
}
