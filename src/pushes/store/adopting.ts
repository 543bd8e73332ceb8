import type { Database, Transaction } from "../../database/database.ts";
import { type Statement, sql, type Value } from "../../database/statement.ts";
import type { AdoptedEntry } from "../adopt-trail.ts";
import { auditKinds } from "../audit-trail.ts";
import type { LinkDeliveryRow } from "../link-deliveries.ts";
import type { FileRow, PushRow } from "../push-row.ts";
import { insertLinkDelivery } from "./link-deliveries.ts";
import { endReasons, kindNames } from "./rows.ts";
import { insertDataKey, insertPayload } from "./statements.ts";
import { addToTotal, insertFiles } from "./steps.ts";

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

const pushWithKey = (dataKeyId: string) =>
  `INSERT INTO pushes (id, token_digest, kind, owner_id, created_at, updated_at, expires_at, ended_at, end_reason,
     expire_after_days, expire_after_views, views, refusals, audit_count, deletable_by_viewer, retrieval_step,
     seal_generation, data_key_id, stored_bytes, link_salt, passphrase_salt, token_sealed, name_sealed, note_sealed)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${dataKeyId}, ?, ?, ?, ?, ?, ?) ON CONFLICT (token_digest) DO NOTHING`;
/** On SQLite, the key that was written just before is its own. */
const insertPush = sql<Value[]>({
  sqlite: pushWithKey("coalesce(?, last_insert_rowid())"),
  postgres: pushWithKey("?"),
});

/** Several entries in one statement: over a network each would be a round trip. The largest first. */
const entriesTogether = [64, 8, 1] as const;
const insertEntries = entriesTogether.map((count): [number, Statement<Value[], never>] => [
  count,
  sql(
    `INSERT INTO audit_entries (push_id, sequence, kind, user_id, address, user_agent, referrer, times, created_at,
       updated_at) VALUES ${Array(count).fill("(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
  ),
]);

/** Of a push that has ended. Of the living ones the first is 1. */
const noDataKey = 0;

/** In a transaction. @throws LinkTakenError, UploadSweptError: nothing of the transaction may stand then. */
export async function adoptRows(tx: Transaction, engine: Database["engine"], rows: AdoptedRows): Promise<void> {
  const { row, sealed, files } = rows;
  const dataKeyId = sealed === null ? noDataKey : engine === "sqlite" ? null : row.id;
  if (sealed !== null) await tx.run(insertDataKey, dataKeyId, sealed.dataKey);
  if ((await tx.run(insertPush, ...valuesOf(rows, dataKeyId))) !== 1) throw new LinkTakenError();
  if (sealed !== null) {
    await tx.run(insertPayload, row.id, sealed.payload);
    // SQLite alone keeps this total in step with each write.
    if (row.ownerId === null && engine === "sqlite") await tx.run(addToTotal, rows.storedBytes);
  }
  await insertFiles(tx, row.id, files);
  await writeTrail(tx, row.id, rows.trail);
  for (const linkDelivery of rows.linkDeliveries) await insertLinkDelivery(tx, linkDelivery);
}

export async function writeTrail(tx: Transaction, pushId: number, trail: readonly AdoptedEntry[]): Promise<void> {
  let at = 0;
  for (const [count, insert] of insertEntries) {
    for (; at + count <= trail.length; at += count) {
      const values = trail.slice(at, at + count).flatMap((entry) => entryValues(pushId, entry));
      await tx.run(insert, ...values);
    }
  }
}

function entryValues(pushId: number, entry: AdoptedEntry): Value[] {
  const { sequence, kind, userId, address, userAgent, referrer, times, at, updatedAt } = entry;
  return [pushId, sequence, auditKinds.indexOf(kind), userId, address, userAgent, referrer, times, at, updatedAt];
}

function valuesOf({ row, tokenDigest, storedBytes, eventCount }: AdoptedRows, dataKeyId: number | null): Value[] {
  return [
    row.id,
    tokenDigest,
    kindNames.indexOf(row.kind),
    row.ownerId,
    row.createdAt,
    row.updatedAt,
    row.expiresAt,
    row.endedAt,
    row.endReason === null ? null : endReasons.indexOf(row.endReason),
    row.expireAfterDays,
    row.expireAfterViews,
    row.views,
    row.refusals,
    eventCount,
    row.deletableByViewer ? 1 : 0,
    row.retrievalStep ? 1 : 0,
    row.sealGeneration,
    dataKeyId,
    storedBytes,
    row.linkSalt,
    row.passphraseSalt,
    row.tokenSealed,
    row.nameSealed,
    row.noteSealed,
  ];
}
