import type { LinkAddress } from "../../crypto/url-token.ts";
import { capabilitiesOf, type Database, type Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { ImportedEntry } from "../create/import-push.ts";
import type { LinkDeliveryRow } from "../notifications/link-deliveries.ts";
import { firstGeneration } from "../seals.ts";
import { deleteLinkDeliveries, insertLinkDelivery } from "./notifications.ts";
import { auditEntries, type FileRow, importedLinks, newPushes, type PushRow, payloads } from "./tables.ts";
import {
  addToTotal,
  deleteAuditEntries,
  insertFiles,
  insertPayload,
  insertPushWith,
  sqlOfLockedRows,
  writeRowSecret,
} from "./write-operations.ts";

/** The sealed rows of a push from another installation. */
export interface ImportedPushRows {
  readonly row: PushRow;
  readonly link: LinkAddress;
  /** null: the push has ended. */
  readonly sealed: { readonly rowSecret: Buffer; readonly payload: Buffer } | null;
  readonly files: readonly FileRow[];
  readonly storedBytes: number;
  readonly trail: readonly ImportedEntry[];
  /** The link deliveries of the trail's entries. */
  readonly linkDeliveries: readonly LinkDeliveryRow[];
  /** How many events the entries of the trail count. */
  readonly eventCount: number;
}

/** Another push has this url_token. Undoes the transaction. */
export class LinkTakenError extends Error {
  override readonly name = "LinkTakenError";
}

const insertPush = insertPushWith("");
const insertLink = importedLinks.insert("ON CONFLICT DO NOTHING");

/** Row counts of multi-row inserts, largest first: over a network each statement is a round trip. */
const entriesTogether = [64, 8, 1] as const;
const insertEntries = entriesTogether.map((count) => [count, auditEntries.insert("", count)] as const);

/** The key id of an ended push. Ids of live keys start at 1. */
const noRowSecret = 0;

/** Runs in a transaction, which must be undone on errors. @throws LinkTakenError, UploadSweptError. */
export async function writeImportedPush(
  tx: Transaction,
  engine: Database["engine"],
  rows: ImportedPushRows,
): Promise<void> {
  const { row, link, sealed, files, storedBytes, eventCount } = rows;
  // Another import may have taken it.
  const taken = await tx.run(insertLink, ...importedLinks.values({ digest: link.importedDigest, pushId: row.id }));
  if (taken !== 1) throw new LinkTakenError();
  const rowSecretId = sealed === null ? noRowSecret : await writeRowSecret(tx, engine, row.id, sealed.rowSecret);
  const values = { ...row, linkCheck: link.check, storedBytes, rowSecretId, auditCount: eventCount };
  await tx.run(insertPush, ...newPushes.values(values));
  if (sealed !== null) {
    await tx.run(insertPayload, ...payloads.values({ pushId: row.id, sealed: sealed.payload }));
    // Only SQLite updates this total with each write.
    if (row.ownerId === null && capabilitiesOf[engine].storedTotals) await tx.run(addToTotal, storedBytes);
  }
  await insertFiles(tx, row.id, files);
  await writeTrail(tx, row.id, rows.trail);
  for (const linkDelivery of rows.linkDeliveries) await insertLinkDelivery(tx, linkDelivery);
}

export async function writeTrail(tx: Transaction, pushId: number, trail: readonly ImportedEntry[]): Promise<void> {
  let at = 0;
  for (const [count, insert] of insertEntries) {
    for (; at + count <= trail.length; at += count) {
      const values = trail
        .slice(at, at + count)
        .flatMap((entry) => auditEntries.values({ ...entry, pushId, createdAt: entry.at }));
      await tx.run(insert, ...values);
    }
  }
}

/** Sealed parts that an imported push lacked. */
export interface CompletingRows {
  readonly pushId: number;
  readonly noteSealed: Buffer | null;
  readonly trail: readonly ImportedEntry[];
  readonly linkDeliveries: readonly LinkDeliveryRow[];
  /** How many events the entries of the trail count. */
  readonly eventCount: number;
  /** How many events the push was imported with. */
  readonly importedEvents: number;
}

export type TrailCompletion =
  | "filled"
  /** The push and its trail do not exist any more. */
  | "superseded"
  /** More events were missing than fit before the events that happened here. */
  | "begun";

// Only if the note is still empty: an owner's own note, or changed content, is not overwritten.
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

/** Runs in a transaction. */
export async function fillNote(
  tx: Transaction,
  { pushId, noteSealed }: CompletingRows,
): Promise<"filled" | "superseded"> {
  return (await tx.run(putNote, noteSealed, pushId)) === 1 ? "filled" : "superseded";
}

/**
 * Runs in a transaction. Replaces the imported trail by the newly read one. Events that happened here remain after it; if
 * there are any, the new trail must have the same length, because their sequences follow it.
 */
export async function fillTrail(tx: Transaction, rows: CompletingRows): Promise<TrailCompletion> {
  const { pushId, trail, eventCount, importedEvents } = rows;
  const pushState = await tx.one(lockTrail, pushId);
  if (pushState === undefined || pushState.forgotten === 1) return "superseded";
  if (pushState.events === importedEvents) {
    await tx.run(deleteAuditEntries, pushId);
    await tx.run(deleteLinkDeliveries, pushId);
    await tx.run(setCount, eventCount, pushId);
    await write(tx, rows, trail);
    return "filled";
  }
  if (eventCount !== importedEvents) return "begun";
  await tx.run(deleteFirstEntries, pushId, importedEvents);
  await tx.run(deleteFirstLinkDeliveries, pushId, importedEvents);
  // An entry that counts many events may already include events of this server.
  await write(
    tx,
    rows,
    trail.filter(({ sequence }) => sequence > 0),
  );
  return "filled";
}

async function write(tx: Transaction, rows: CompletingRows, trail: readonly ImportedEntry[]): Promise<void> {
  await writeTrail(tx, rows.pushId, trail);
  for (const linkDelivery of rows.linkDeliveries) await insertLinkDelivery(tx, linkDelivery);
}
