import type { LinkAddress } from "../../crypto/url-token.ts";
import type { Transaction } from "../../database/database.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import type { LinkDeliveryRow } from "../notifications/link-deliveries.ts";
import type { LinkDeliveryReport } from "../push.ts";
import { insertLinkDelivery } from "./notifications.ts";
import { auditEntries, type FileRow, importedLinks, newPushes, type PushRow, payloads } from "./tables.ts";
import { addToAnonymous, insertFiles, insertPayload, insertPush, writeRowSecret } from "./write-operations.ts";

/** The sealed rows of a push from another installation. */
export interface ImportedPushRows {
  /** `auditCount`: the events that the entries of the trail count. */
  readonly row: PushRow & { readonly storedBytes: number; readonly auditCount: number };
  readonly link: LinkAddress;
  /** null: the push has ended. */
  readonly sealed: { readonly rowSecret: Buffer; readonly payload: Buffer } | null;
  readonly files: readonly FileRow[];
  readonly trail: readonly ImportedEntry[];
  readonly linkDeliveries: readonly LinkDeliveryRow[];
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
export async function writeImportedPush(tx: Transaction, rows: ImportedPushRows): Promise<void> {
  const { row, link, sealed, files } = rows;
  // Another import may have taken it.
  const taken = await tx.run(insertLink, ...importedLinks.values({ digest: link.importedDigest(), pushId: row.id }));
  if (taken !== 1) throw new LinkTakenError();
  const rowSecretId = sealed === null ? noRowSecret : await writeRowSecret(tx, row.id, sealed.rowSecret);
  await tx.run(insertPush, ...newPushes.values({ ...row, rowSecretId }));
  if (sealed !== null) {
    await tx.run(insertPayload, ...payloads.values({ pushId: row.id, sealed: sealed.payload }));
    if (row.ownerId === null) await addToAnonymous(tx, row.storedBytes);
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
