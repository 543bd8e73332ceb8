import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AdoptedEntry } from "../adopt-trail.ts";
import type { LinkDeliveryRow } from "../link-deliveries.ts";
import { firstGeneration } from "../seals.ts";
import { writeTrail } from "./adopting.ts";
import { deleteLinkDeliveries, insertLinkDelivery } from "./link-deliveries.ts";
import { deleteAuditEntries, sqlOfLockedRows } from "./statements.ts";

/** What a push from another installation came without, sealed. */
export interface CompletingRows {
  readonly pushId: number;
  readonly noteSealed: Buffer | null;
  readonly trail: readonly AdoptedEntry[];
  readonly linkDeliveries: readonly LinkDeliveryRow[];
  /** Events that the entries of the trail stand for. */
  readonly eventCount: number;
  /** How many came with the push. */
  readonly broughtEvents: number;
}

export type TrailCompletion =
  | "filled"
  /** The push is gone, and its trail with it. */
  | "superseded"
  /** More events came, of those that were missing, than there is room before what has happened here. */
  | "begun";

// Empty as it came: an owner's own note, or content that was changed here, is not touched.
const putNote = sql<[noteSealed: Buffer | null, pushId: number]>(
  `UPDATE pushes SET note_sealed = ?
   WHERE id = ? AND owner_id IS NOT NULL AND note_sealed IS NULL AND seal_generation = ${firstGeneration}`,
);
const lockTrail = sqlOfLockedRows<[pushId: number], { events: number; forgotten: number }>(
  `SELECT audit_count AS events,
     CASE WHEN owner_id IS NULL AND ended_at IS NOT NULL THEN 1 ELSE 0 END AS forgotten FROM pushes WHERE id = ?`,
  "pushes",
);
const setCount = sql<[events: number, pushId: number]>("UPDATE pushes SET audit_count = ? WHERE id = ?");
const deleteFirstEntries = sql<[pushId: number, last: number]>(
  "DELETE FROM audit_entries WHERE push_id = ? AND sequence BETWEEN 1 AND ?",
);
const deleteFirstLinkDeliveries = sql<[pushId: number, last: number]>(
  "DELETE FROM link_deliveries WHERE push_id = ? AND sequence BETWEEN 1 AND ?",
);

/** In a transaction. */
export async function fillNote(
  tx: Transaction,
  { pushId, noteSealed }: CompletingRows,
): Promise<"filled" | "superseded"> {
  return (await tx.run(putNote, noteSealed, pushId)) === 1 ? "filled" : "superseded";
}

/**
 * In a transaction: the trail as it is read now in place of how it came. Events that happened here since stay, after it: then it
 * has to be as long as it was, for they have their places.
 */
export async function fillTrail(tx: Transaction, rows: CompletingRows): Promise<TrailCompletion> {
  const { pushId, trail, eventCount, broughtEvents } = rows;
  const standing = await tx.one(lockTrail, pushId);
  if (standing === undefined || standing.forgotten === 1) return "superseded";
  if (standing.events === broughtEvents) {
    await tx.run(deleteAuditEntries, pushId);
    await tx.run(deleteLinkDeliveries, pushId);
    await tx.run(setCount, eventCount, pushId);
    await write(tx, rows, trail);
    return "filled";
  }
  if (eventCount !== broughtEvents) return "begun";
  await tx.run(deleteFirstEntries, pushId, broughtEvents);
  await tx.run(deleteFirstLinkDeliveries, pushId, broughtEvents);
  // An entry that stands for many may stand for some of here by now.
  await write(
    tx,
    rows,
    trail.filter(({ sequence }) => sequence > 0),
  );
  return "filled";
}

async function write(tx: Transaction, rows: CompletingRows, trail: readonly AdoptedEntry[]): Promise<void> {
  await writeTrail(tx, rows.pushId, trail);
  for (const linkDelivery of rows.linkDeliveries) await insertLinkDelivery(tx, linkDelivery);
}
