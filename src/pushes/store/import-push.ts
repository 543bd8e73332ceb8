import type { LinkAddress } from "../../crypto/url-token.ts";
import { capabilitiesOf, type Database, type ReadConnection, type Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import type { LinkDeliveryRow } from "../notifications/link-deliveries.ts";
import type { LinkDeliveryReport } from "../push.ts";
import type { EndReason } from "../stored-values.ts";
import { auditKinds } from "../stored-values.ts";
import { removePush } from "./maintenance.ts";
import { insertLinkDelivery } from "./notifications.ts";
import {
  auditEntries,
  type FileRow,
  importedLinks,
  newPushes,
  type PushRow,
  payloads,
  readAuditEntries,
  readPushes,
  type StoredPush,
} from "./tables.ts";
import {
  addToTotal,
  insertFiles,
  insertPayload,
  insertPush,
  sqlOfLockedRows,
  type WriteOperations,
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
  const values = { ...row, storedBytes, rowSecretId, auditCount: eventCount };
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

async function writeTrail(tx: Transaction, pushId: number, trail: readonly ImportedEntry[]): Promise<void> {
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

/** An imported push as it is now, with what happened to it here. */
export type ImportedPushState = NonNullable<Awaited<ReturnType<typeof readImportedState>>>;

const rowById = readPushes.select<[pushId: number]>("WHERE id = ?");
const countActivity = sql<
  [pushId: number, importedEvents: number, pushId: number, importedEvents: number, pushId: number, pushId: number],
  { edits: number; linkDeliveries: number; uses: number }
>(
  `SELECT
     (SELECT count(*) FROM audit_entries WHERE push_id = ? AND sequence > ? AND kind = ${auditKinds.edit}) AS edits,
     (SELECT count(*) FROM link_deliveries WHERE push_id = ? AND sequence > ?) AS "linkDeliveries",
     (SELECT count(*) FROM download_tickets WHERE push_id = ?)
       + (SELECT count(*) FROM claim_retries WHERE push_id = ? AND row_secret_id IS NOT NULL) AS uses`,
);
const entriesAfter = readAuditEntries.select<[pushId: number, importedEvents: number]>(
  "WHERE push_id = ? AND sequence > ? ORDER BY sequence",
);

/** @param importedEvents how many events its trail had when it was imported. @returns undefined: it does not exist any more. */
export async function readImportedState(connection: ReadConnection, pushId: number, importedEvents: number) {
  const stored = await connection.one(rowById, pushId);
  if (stored === undefined) return undefined;
  const row = readPushes.decode(stored);
  const found = await connection.one(countActivity, pushId, importedEvents, pushId, importedEvents, pushId, pushId);
  const wasOpen = row.keyCheck.length > 0;
  return {
    row,
    /** It was imported as a live push. */
    wasOpen,
    /** Somebody did something with it here. Only the end by time is not recorded as an event of its own. */
    isTouched: row.auditCount !== importedEvents || (wasOpen && row.endedAt !== null && row.endReason !== "time"),
    isEdited: (found?.edits ?? 0) > 0,
    hasLinkDeliveries: (found?.linkDeliveries ?? 0) > 0,
    /** Somebody may still download its files, or repeat a claim. */
    isInUse: (found?.uses ?? 0) > 0,
  };
}

/** The entries of the trail that were written here, oldest first. Those that count several events are not among them. */
export async function readOwnEntries(connection: ReadConnection, pushId: number, importedEvents: number) {
  return (await connection.all(entriesAfter, pushId, importedEvents)).map((stored) => readAuditEntries.decode(stored));
}

/** The push has changed since it was read. Undoes the transaction. */
export class PushChangedError extends Error {
  override readonly name = "PushChangedError";
}

const lockRow = sqlOfLockedRows<[pushId: number], StoredPush>(
  `SELECT ${readPushes.selectList} FROM pushes WHERE id = ?`,
  "pushes",
);
const setLimits = sql<(number | null)[]>(
  `UPDATE pushes SET expire_after_days = ?, expire_after_views = ?, views = ?, expires_at = ?, retrieval_step = ? WHERE id = ?`,
);
const bringForward = sql<[expiresAt: number, pushId: number]>("UPDATE pushes SET expires_at = ? WHERE id = ?");

/** Every event and every end changes one of these. @throws PushChangedError. */
async function lockUnchanged(tx: Transaction, { row }: ImportedPushState): Promise<void> {
  const stored = await tx.one(lockRow, row.id);
  const now = stored && readPushes.decode(stored);
  const isSame =
    now?.auditCount === row.auditCount && now.endedAt === row.endedAt && now.sealGeneration === row.sealGeneration;
  if (!isSame) throw new PushChangedError("The push has changed.");
}

/**
 * Replaces an imported push, as it was read, by another one. Runs in a transaction, which must be undone on errors.
 * @throws PushChangedError, UploadSweptError.
 */
export async function replaceImportedPush(
  tx: Transaction,
  operations: WriteOperations,
  { before, rows, now }: { readonly before: ImportedPushState; readonly rows: ImportedPushRows; readonly now: number },
): Promise<void> {
  await lockUnchanged(tx, before);
  await deleteImportedPush(tx, operations, before.row.id, now);
  await writeImportedPush(tx, operations.engine, rows);
}

/** Runs in a transaction. Destroys the push with all that belongs to it. */
export async function deleteImportedPush(
  tx: Transaction,
  { end }: Pick<WriteOperations, "end">,
  pushId: number,
  now: number,
): Promise<void> {
  await end(tx, { pushId, reason: "owner", endedAt: now, blobsDueAt: 0, audit: null });
  await removePush(tx, pushId);
}

/** Runs in a transaction. @throws PushChangedError. */
export async function endImportedPush(
  tx: Transaction,
  { end }: Pick<WriteOperations, "end">,
  before: ImportedPushState,
  { at, reason }: { readonly at: number; readonly reason: EndReason },
): Promise<void> {
  await lockUnchanged(tx, before);
  const { id, expiresAt } = before.row;
  if (reason === "time" && expiresAt > at) await tx.run(bringForward, at, id);
  await end(tx, { pushId: id, reason, endedAt: at, blobsDueAt: 0, audit: null });
}

export type StricterLimits = Pick<
  PushRow,
  "expireAfterDays" | "expireAfterViews" | "views" | "expiresAt" | "retrievalStep"
>;

/** Runs in a transaction. @throws PushChangedError. */
export async function restrictImportedPush(
  tx: Transaction,
  before: ImportedPushState,
  limits: StricterLimits,
): Promise<void> {
  await lockUnchanged(tx, before);
  const { expireAfterDays, expireAfterViews, views, expiresAt, retrievalStep } = limits;
  await tx.run(setLimits, expireAfterDays, expireAfterViews, views, expiresAt, Number(retrievalStep), before.row.id);
}

/** An event of another installation, whose texts are not trusted. Times in ms since the epoch. */
export interface ImportedEvent extends AuditRecord {
  readonly updatedAt: number;
  /** For `creation_email_send`: the link delivery of the other installation. */
  readonly linkDelivery: LinkDeliveryReport | null;
}

/** A stored entry. `sequence` is negative for entries that count many events. */
export interface ImportedEntry extends ImportedEvent {
  readonly sequence: number;
  readonly times: number;
}
