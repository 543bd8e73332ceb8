import type { Database, Transaction } from "../../database/database.ts";
import type { AdoptedEntry } from "../adopt-trail.ts";
import type { LinkDeliveryRow } from "../link-deliveries.ts";
import type { FileRow, PushRow } from "../push-row.ts";
import { insertLinkDelivery } from "./link-deliveries.ts";
import { insertPayload, writeDataKey } from "./statements.ts";
import { addToTotal, insertFiles } from "./steps.ts";
import { auditEntries, payloads, pushes } from "./tables.ts";

/** A push from another installation, sealed, with what belongs to it. */
export interface AdoptedRows {
  readonly row: PushRow;
  readonly tokenDigest: Buffer;
  /** null: it has ended. */
  readonly sealed: { readonly dataKey: Buffer; readonly payload: Buffer } | null;
  readonly files: readonly FileRow[];
  readonly storedBytes: number;
  readonly trail: readonly AdoptedEntry[];
  /** Beside their entries of the trail. */
  readonly linkDeliveries: readonly LinkDeliveryRow[];
  /** Events that the entries of the trail stand for. */
  readonly eventCount: number;
}

/** Another push has this url_token; undoes the transaction. */
export class LinkTakenError extends Error {
  override readonly name = "LinkTakenError";
}

const insertPush = pushes.insert("ON CONFLICT (token_digest) DO NOTHING");

/** Several entries in one statement: over a network each would be a round trip. The largest first. */
const entriesTogether = [64, 8, 1] as const;
const insertEntries = entriesTogether.map((count) => [count, auditEntries.insert("", count)] as const);

/** Of a push that has ended. Of the living ones the first is 1. */
const noDataKey = 0;

/** In a transaction. @throws LinkTakenError, UploadSweptError: nothing of the transaction may stand then. */
export async function adoptRows(tx: Transaction, engine: Database["engine"], rows: AdoptedRows): Promise<void> {
  const { row, tokenDigest, sealed, files, storedBytes, eventCount } = rows;
  const dataKeyId = sealed === null ? noDataKey : await writeDataKey(tx, engine, row.id, sealed.dataKey);
  if (
    (await tx.run(
      insertPush,
      ...pushes.values({ ...row, tokenDigest, storedBytes, dataKeyId, auditCount: eventCount }),
    )) !== 1
  )
    throw new LinkTakenError();
  if (sealed !== null) {
    await tx.run(insertPayload, ...payloads.values({ pushId: row.id, sealed: sealed.payload }));
    // SQLite alone keeps this total in step with each write.
    if (row.ownerId === null && engine === "sqlite") await tx.run(addToTotal, storedBytes);
  }
  await insertFiles(tx, row.id, files);
  await writeTrail(tx, row.id, rows.trail);
  for (const linkDelivery of rows.linkDeliveries) await insertLinkDelivery(tx, linkDelivery);
}

export async function writeTrail(tx: Transaction, pushId: number, trail: readonly AdoptedEntry[]): Promise<void> {
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
