import { dayMs } from "../../base/clock.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { cleanReferrer, cutText, foldedSequence, folds } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { hashPassphrase, sealedColumns } from "../new-row.ts";
import { type LinkDeliveryRow, pastLinkDelivery } from "../notifications/link-deliveries.ts";
import type { AuditKind, IncomingFile } from "../push.ts";
import { firstGeneration, listFiles, positionFiles, sealPushContent } from "../seals.ts";
import {
  type ImportedEntry,
  type ImportedEvent,
  type ImportedPushRows,
  LinkTakenError,
  writeImportedPush,
} from "../store/adopt-push.ts";
import { isOwnLink } from "../store/find-link.ts";
import { type PushOptions, type PushRow, pushes } from "../store/tables.ts";
import type { EndReason } from "../stored-values.ts";
import type { UploadDeps } from "./received-files.ts";
import { PendingUpload } from "./upload.ts";

type TakenOver = "kind" | "expireAfterDays" | "expireAfterViews" | "views" | "refusals" | "createdAt" | "updatedAt";

/** A push from another installation, which validated its values. They are not checked again. */
export interface ImportedPush extends PushOptions, Pick<PushRow, TakenOver> {
  readonly urlToken: string;
  /** null: anonymous. Then name and note are not stored, nor is the trail once the push has ended. */
  readonly ownerId: number | null;
  readonly name: string;
  readonly note: string;
  /** null: the push has ended. An empty passphrase is none. */
  readonly open: {
    readonly payload: string;
    readonly passphrase: string;
    readonly files: readonly IncomingFile[];
  } | null;
  readonly end: { readonly at: number; readonly reason: EndReason } | null;
  /** Oldest first. */
  readonly trail: readonly ImportedEvent[];
}

/**
 * Records the import, first in the transaction that writes the push. `recorded_before`: an earlier attempt of this
 * transaction wrote the push, but its answer was lost. `recorded_elsewhere`: the push was imported under another id, so
 * nothing is written.
 */
export type RecordImport = (
  tx: Transaction,
  pushId: number,
) => Promise<"recorded" | "recorded_before" | "recorded_elsewhere">;

export type PushImport =
  | { readonly outcome: "imported"; readonly fileBytes: number }
  | { readonly outcome: "known" }
  /** Another push here has this url_token. Nothing was written. */
  | { readonly outcome: "link_taken" };

/** The other installation accepted the pushes, so only a full disk limits their number and size here: `config` and the others allow all. */
export type PushImportDeps = UploadDeps &
  Pick<PushDeps, "storedLinkKeys" | "linkDeliveryIds" | "argon2"> & { readonly db: Database };

/** The source's expiry may exceed this server's limits. It is capped at the latest date with a four-digit year. */
const latestExpiry = Date.UTC(9999, 11, 31);
/** A push that had ended has no key. */
const noKeyCheck = Buffer.alloc(0);
/** The client name in the Argon2 queue. It is not a network address, so it collides with no client. */
const client = "import";

/**
 * Seals a push again and writes it with all its parts in one transaction. Its files are abandoned unless it is written.
 * @throws the error of reading a file.
 */
export async function adoptPush(deps: PushImportDeps, push: ImportedPush, record: RecordImport): Promise<PushImport> {
  const user = push.ownerId === null ? null : { id: push.ownerId, admin: false };
  const upload = new PendingUpload(deps, { user, client, address: "", userAgent: "", referrer: "", ownOrigin: "" });
  try {
    for (const file of push.open?.files ?? []) await upload.addFile(file);
    const rows = await sealRows(deps, push, upload);
    if (!(await writeRows(deps.db, rows, record))) return { outcome: "known" };
    upload.handOver();
    return { outcome: "imported", fileBytes: upload.storedBytes };
  } catch (error) {
    if (error instanceof LinkTakenError) return { outcome: "link_taken" };
    throw error;
  } finally {
    await upload.abandon();
  }
}

async function sealRows(deps: PushImportDeps, push: ImportedPush, upload: PendingUpload): Promise<ImportedPushRows> {
  const { vault, random } = deps;
  const { open, urlToken, ownerId, end, trail: allEvents, ...takenOver } = push;
  const secrets = await hashPassphrase(deps, open?.passphrase ?? "", ownerId !== null, client);
  const { passphraseSalt, passphraseHash } = secrets;
  const id = await deps.ids.next();
  const identity = { id, ownerId, kind: push.kind, sealGeneration: firstGeneration, payloadFormat: "text" } as const;
  const content =
    open &&
    sealPushContent(vault.keyring, identity, {
      secrets: { urlToken, passphraseHash },
      content: { payload: open.payload, files: listFiles(positionFiles(upload.files)) },
      random,
    });
  // A tombstone has no trail.
  const events = ownerId === null && open === null ? [] : allEvents;
  const row = {
    ...takenOver,
    ...identity,
    expiresAt: expiryOf(push),
    endedAt: end?.at ?? null,
    endReason: end?.reason ?? null,
    storedBytes: Buffer.byteLength(open?.payload ?? "") + upload.storedBytes,
    auditCount: events.length,
    encryption: "none",
    encryptionCheck: null,
    isAnswer: 0,
    keyCheck: content?.keyCheck ?? noKeyCheck,
    passphraseSalt,
    ...sealedColumns(vault, identity, push),
    tokenSealed: await sealLink(deps, id, push),
  } as const;
  const trail = importedTrail(events);
  return {
    row,
    link: vault.urlTokens.addressOf(urlToken),
    trail,
    linkDeliveries: await sealLinkDeliveries(deps, row, trail),
    sealed: content && { rowSecret: content.rowSecretSealed, payload: content.payloadSealed },
    files: content?.files ?? [],
  };
}

/** Link deliveries of the other installation. This server sends none of their emails. */
async function sealLinkDeliveries(
  { vault, linkDeliveryIds }: Pick<PushImportDeps, "vault" | "linkDeliveryIds">,
  { id: pushId, ownerId }: Pick<PushRow, "id" | "ownerId">,
  trail: readonly ImportedEntry[],
): Promise<readonly LinkDeliveryRow[]> {
  const rows: LinkDeliveryRow[] = [];
  for (const { sequence, linkDelivery } of trail) {
    if (linkDelivery === null || ownerId === null) continue;
    const key = { id: await linkDeliveryIds.next(), ownerId, pushId, sequence };
    rows.push(pastLinkDelivery(vault.keyring, key, linkDelivery));
  }
  return rows;
}

/** If the account's link secret is replaced before the row is written, the link does not open any more, as that of an earlier push. */
async function sealLink(
  { config, storedLinkKeys, random }: PushImportDeps,
  id: number,
  { ownerId, urlToken }: ImportedPush,
): Promise<Buffer | null> {
  if (ownerId === null || !config.keepLinks) return null;
  return (await storedLinkKeys.findOrDraw(ownerId)).seal(pushes.seals.urlToken, { id, ownerId }, urlToken, random);
}

export function expiryOf({ createdAt, expireAfterDays }: Pick<ImportedPush, "createdAt" | "expireAfterDays">): number {
  return Math.min(createdAt + Math.max(expireAfterDays, 0) * dayMs, latestExpiry);
}

/** @throws LinkTakenError. */
async function writeRows(db: Database, rows: ImportedPushRows, record: RecordImport): Promise<boolean> {
  // Before the transaction: no later push of this server gets this link, and a serializable transaction that has searched
  // a page conflicts with all others that insert there.
  if (await isOwnLink(db.read, rows.link)) throw new LinkTakenError();
  return await db.untilKnown(() =>
    db.write(async (tx) => {
      const recorded = await record(tx, rows.row.id);
      if (recorded === "recorded") await writeImportedPush(tx, rows);
      return recorded !== "recorded_elsewhere";
    }),
  );
}

/** Only users write these, and they answer who has looked at the push. The other installation limits the length of its trails. */
const ownedViews: ReadonlySet<AuditKind> = new Set(["owner_view", "admin_view"]);

/**
 * Converts events to the trail that this server would have written: texts are cut, links are removed from referrers, and
 * repeatable kinds are folded beyond the first thousand events, except for views of the owner and of administrators.
 * @param events oldest first.
 */
export function importedTrail(events: readonly ImportedEvent[]): readonly ImportedEntry[] {
  const entries: ImportedEntry[] = [];
  const folded = new Map<AuditKind, ImportedEntry>();
  for (const [at, event] of events.entries()) {
    const count = at + 1;
    const clean = cleanEvent(event);
    if (ownedViews.has(event.kind) || !folds(event.kind, count)) {
      entries.push({ ...clean, sequence: count, times: 1 });
      continue;
    }
    const earlier = folded.get(event.kind);
    const [began, times] = [earlier?.at ?? clean.at, (earlier?.times ?? 0) + 1];
    folded.set(event.kind, { ...clean, sequence: foldedSequence(event.kind), at: began, times });
  }
  return [...entries, ...folded.values()];
}

function cleanEvent(event: ImportedEvent): ImportedEvent {
  return {
    ...event,
    address: cutText(event.address),
    userAgent: cutText(event.userAgent),
    // The other installation's address is unknown, so links are recognised by their shape.
    referrer: cutText(cleanReferrer(event.referrer, "")),
  };
}
