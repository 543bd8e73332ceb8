import { dayMs } from "../../base/clock.ts";
import type { KindName } from "../../base/push-kinds.ts";
import { makePassphraseSalt } from "../../crypto/passphrase.ts";
import type { RotatedColumn } from "../../crypto/sealed-column.ts";
import type { Database, Transaction } from "../../database/database.ts";
import { cleanReferrer, cutText, foldedSequence, folds } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { type LinkDeliveryRow, pastLinkDelivery } from "../notifications/link-deliveries.ts";
import type { AuditKind, IncomingFile } from "../push.ts";
import { firstGeneration, listFiles, positionFiles, sealLabel, sealPushContent } from "../seals.ts";
import {
  type ImportedEntry,
  type ImportedEvent,
  type ImportedPushRows,
  LinkTakenError,
  writeImportedPush,
} from "../store/adopt-push.ts";
import { isOwnLink } from "../store/find-link.ts";
import { optionsBy, type PushOptions, type PushRow, pushes } from "../store/tables.ts";
import type { EndReason } from "../stored-values.ts";
import { PendingUpload } from "./upload.ts";

/** A push from another installation, which validated its values. They are not checked again. */
export interface ImportedPush extends PushOptions {
  readonly urlToken: string;
  readonly kind: KindName;
  /** null: anonymous. Then name and note are not stored, nor is the trail once the push has ended. */
  readonly ownerId: number | null;
  readonly name: string;
  readonly note: string;
  /** null: the push has ended. */
  readonly open: ImportedSecret | null;
  /** null: the push is live. */
  readonly end: { readonly at: number; readonly reason: EndReason } | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly views: number;
  /** Refused retrievals that were counted. */
  readonly refusals: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Oldest first. */
  readonly trail: readonly ImportedEvent[];
}

export interface ImportedSecret {
  readonly payload: string;
  /** "": no passphrase. */
  readonly passphrase: string;
  readonly files: readonly IncomingFile[];
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
  | { readonly outcome: "imported"; readonly pushId: number; readonly fileBytes: number }
  | { readonly outcome: "known" }
  /** Another push here has this url_token. Nothing was written. */
  | { readonly outcome: "link_taken" };

export type PushImportDeps = Pick<
  PushDeps,
  | "config"
  | "clock"
  | "random"
  | "vault"
  | "storedLinkKeys"
  | "store"
  | "ids"
  | "linkDeliveryIds"
  | "blobs"
  | "argon2"
  | "capacity"
  | "byteBudgets"
> & { readonly db: Database };

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
  const upload = push.open === null ? undefined : beginUpload(deps, push.ownerId);
  try {
    for (const file of push.open?.files ?? []) await upload?.addFile(file);
    const rows = await sealRows(deps, push, upload);
    if (!(await writeRows(deps.db, rows, record))) {
      await upload?.abandon();
      return { outcome: "known" };
    }
    const fileBytes = upload?.storedBytes ?? 0;
    upload?.handOver();
    return { outcome: "imported", pushId: rows.row.id, fileBytes };
  } catch (error) {
    await upload?.abandon();
    if (error instanceof LinkTakenError) return { outcome: "link_taken" };
    throw error;
  }
}

/** The other installation accepted the files, so only a full disk limits their number and size here. */
function beginUpload(deps: PushImportDeps, ownerId: number | null): PendingUpload {
  const unbounded = { maxFileUploads: Number.MAX_SAFE_INTEGER, pushBytesMax: Number.MAX_SAFE_INTEGER };
  const config = { ...deps.config, files: { ...deps.config.files, ...unbounded } };
  const user = ownerId === null ? null : { id: ownerId, admin: false };
  const actor = { user, client, address: "", userAgent: "", referrer: "", ownOrigin: "" };
  return new PendingUpload({ ...deps, config }, actor);
}

async function sealRows(
  deps: PushImportDeps,
  push: ImportedPush,
  upload: PendingUpload | undefined,
): Promise<ImportedPushRows> {
  const { vault, random } = deps;
  const { open, urlToken } = push;
  const passphrase = open?.passphrase ?? "";
  const passphraseSalt = passphrase === "" ? null : makePassphraseSalt(random, push.ownerId !== null);
  const passphraseHash =
    passphraseSalt === null ? undefined : await deps.argon2.deriveKey(passphrase, passphraseSalt, client);
  const id = await deps.ids.next();
  const content =
    open === null || upload === undefined
      ? undefined
      : sealPushContent(
          vault.keyring,
          { ...push, id, sealGeneration: firstGeneration, payloadFormat: "text" },
          {
            secrets: { urlToken, passphraseHash },
            content: { payload: open.payload, files: listFiles(positionFiles(upload.files)) },
            random,
          },
        );
  const made = { id, keyCheck: content?.keyCheck ?? noKeyCheck, passphraseSalt };
  const row = { ...rowOf(deps, made, push), tokenSealed: await sealLink(deps, id, push) };
  const isTombstone = push.ownerId === null && open === null;
  const events = isTombstone ? [] : push.trail;
  const trail = importedTrail(events);
  const common = {
    row,
    link: vault.urlTokens.addressOf(urlToken),
    trail,
    eventCount: events.length,
    linkDeliveries: await sealLinkDeliveries(deps, row, trail),
  };
  if (content === undefined) return { ...common, sealed: null, files: [], storedBytes: 0 };
  return {
    ...common,
    sealed: { rowSecret: content.rowSecretSealed, payload: content.payloadSealed },
    files: content.files,
    storedBytes: Buffer.byteLength(open?.payload ?? "") + (upload?.storedBytes ?? 0),
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
    rows.push(
      pastLinkDelivery(vault.keyring, { id: await linkDeliveryIds.next(), ownerId, pushId, sequence }, linkDelivery),
    );
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

function rowOf(
  deps: PushImportDeps,
  { id, keyCheck, passphraseSalt }: Pick<PushRow, "id" | "keyCheck" | "passphraseSalt">,
  push: ImportedPush,
): Omit<PushRow, "tokenSealed"> {
  const { ownerId } = push;
  const { check: linkCheck } = deps.vault.urlTokens.addressOf(push.urlToken);
  const label = (column: RotatedColumn, text: string) =>
    ownerId === null ? null : sealLabel(deps.vault.keyring, column, { id, ownerId }, text);
  return {
    id,
    kind: push.kind,
    ownerId,
    createdAt: push.createdAt,
    updatedAt: push.updatedAt,
    expiresAt: expiryOf(push),
    endedAt: push.end?.at ?? null,
    endReason: push.end?.reason ?? null,
    expireAfterDays: push.expireAfterDays,
    expireAfterViews: push.expireAfterViews,
    views: push.views,
    refusals: push.refusals,
    ...optionsBy((option) => push[option]),
    encryption: "none",
    encryptionCheck: null,
    payloadFormat: "text",
    isAnswer: 0,
    sealGeneration: firstGeneration,
    keyCheck,
    passphraseSalt,
    linkCheck,
    ownerCheck: ownerId === null ? null : deps.vault.ownerCheckOf({ id, ownerId, linkCheck }),
    nameSealed: label(pushes.seals.name, push.name),
    noteSealed: label(pushes.seals.note, push.note),
  };
}

/** Milliseconds since the epoch. */
export function expiryOf({ createdAt, expireAfterDays }: Pick<ImportedPush, "createdAt" | "expireAfterDays">): number {
  return Math.min(createdAt + Math.max(expireAfterDays, 0) * dayMs, latestExpiry);
}

/** Whether nobody ended it, and it was not viewed to its limit: only its time has passed. */
export function endedByTime({
  end,
  ...push
}: Pick<ImportedPush, "createdAt" | "expireAfterDays"> & {
  readonly end: { readonly at: number; readonly reason: string } | null;
}): boolean {
  return end?.reason === "time" && end.at >= expiryOf(push);
}

/** @throws LinkTakenError. */
async function writeRows(db: Database, rows: ImportedPushRows, record: RecordImport): Promise<boolean> {
  // Before the transaction: no later push of this server gets this link, and a serializable transaction that has searched
  // a page conflicts with all others that insert there.
  if (await isOwnLink(db.read, rows.link)) throw new LinkTakenError();
  return await db.untilKnown(() =>
    db.write(async (tx) => {
      const recorded = await record(tx, rows.row.id);
      if (recorded === "recorded") await writeImportedPush(tx, db.engine, rows);
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
