import { dayMs } from "../../base/clock.ts";
import type { KindName } from "../../base/push-kinds.ts";
import { type Database, type Transaction, writeUntilKnown } from "../../database/database.ts";
import { type AuditRecord, cleanReferrer, cutText, foldedSequence, folds } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { type LinkDeliveryRow, pastLinkDelivery } from "../notifications/link-deliveries.ts";
import type { AuditKind, EndReason, IncomingFile, LinkDeliveryReport } from "../push.ts";
import { firstGeneration, saltBytes, sealContexts, sealDataKey, sealLabel, sealPayload } from "../seals.ts";
import {
  type AdoptedRows,
  adoptRows,
  fillNote,
  fillTrail,
  LinkTakenError,
  type TrailCompletion,
} from "../store/import-push.ts";
import { optionsBy, type PushOptions, type PushRow } from "../store/tables.ts";
import { PendingUpload } from "./upload.ts";

/** A push from another installation, as it stood there. What it says was valid there and is not checked again. */
export interface AdoptedPush extends Partial<PushOptions> {
  readonly urlToken: string;
  readonly kind: KindName;
  /** null: nobody's. Then name, note and, once it has ended, the trail are not kept. */
  readonly ownerId: number | null;
  readonly name: string;
  readonly note: string;
  /** null: it has ended. */
  readonly open: AdoptedSecret | null;
  /** null: it is open. */
  readonly end: { readonly at: number; readonly reason: EndReason } | null;
  readonly expireAfterDays: number;
  readonly expireAfterViews: number;
  readonly views: number;
  /** Refused retrievals, as far as they count. */
  readonly refusals: number;
  readonly deletableByViewer: boolean;
  readonly retrievalStep: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Oldest first. */
  readonly trail: readonly AdoptedEvent[];
}

export interface AdoptedSecret {
  readonly payload: string;
  /** "": there is none. */
  readonly passphrase: string;
  readonly files: readonly IncomingFile[];
}

/**
 * Runs first in the transaction that writes the push. `already`: an earlier try of this very transaction has written it, and its answer was
 * lost. `other`: it came in under another id; then nothing is written.
 */
export type NotePush = (tx: Transaction, pushId: number) => Promise<"now" | "already" | "other">;

export type PushAdoption =
  | { readonly outcome: "adopted"; readonly pushId: number; readonly fileBytes: number }
  | { readonly outcome: "known" }
  /** Another push here has this url_token. Nothing was written. */
  | { readonly outcome: "link_taken" };

export type AdoptionDeps = Pick<
  PushDeps,
  "config" | "clock" | "random" | "vault" | "store" | "ids" | "linkDeliveryIds" | "blobs" | "argon2" | "capacity"
> & { readonly db: Database };

/** Limits of days are kept whatever they are; the moment itself is one that can be written down (until the year 9999). */
const latestExpiry = Date.UTC(9999, 11, 31);
/** Place in the Argon2 queue: not a network address, so no client can share it. */
const client = "import";

/**
 * Seals a push anew and writes it with all that belongs to it in one transaction. Files are sealed and stored before that; on
 * any error they are given up, and whatever reading them threw is thrown on.
 */
export async function adoptPush(deps: AdoptionDeps, push: AdoptedPush, note: NotePush): Promise<PushAdoption> {
  const upload = push.open === null ? undefined : beginUpload(deps, push.ownerId);
  try {
    for (const file of push.open?.files ?? []) await upload?.addFile(file);
    const rows = await sealRows(deps, push, upload);
    const written = await writeRows(deps.db, rows, note);
    if (!written) {
      await upload?.abandon();
      return { outcome: "known" };
    }
    upload?.handOver();
    return { outcome: "adopted", pushId: rows.row.id, fileBytes: upload?.storedBytes ?? 0 };
  } catch (error) {
    await upload?.abandon();
    if (error instanceof LinkTakenError) return { outcome: "link_taken" };
    throw error;
  }
}

/** Files that were taken elsewhere stay, however many and large they are; only the disk can be full. */
function beginUpload(deps: AdoptionDeps, ownerId: number | null): PendingUpload {
  const unbounded = { maxFileUploads: Number.MAX_SAFE_INTEGER, pushBytesMax: Number.MAX_SAFE_INTEGER };
  const config = { ...deps.config, files: { ...deps.config.files, ...unbounded } };
  const user = ownerId === null ? null : { id: ownerId, admin: false };
  const actor = { user, client, address: "", userAgent: "", referrer: "", ownOrigin: "" };
  return new PendingUpload({ ...deps, config }, actor);
}

async function sealRows(
  deps: AdoptionDeps,
  push: AdoptedPush,
  upload: PendingUpload | undefined,
): Promise<AdoptedRows> {
  const { vault, random } = deps;
  const { open, urlToken } = push;
  const passphrase = open?.passphrase ?? "";
  const passphraseSalt = passphrase === "" ? null : random.bytes(saltBytes);
  const passphraseHash =
    passphraseSalt === null ? undefined : await deps.argon2.deriveKey(passphrase, passphraseSalt, client);
  const row = rowOf(deps, await deps.ids.next(), push, passphraseSalt);
  const isTombstone = push.ownerId === null && open === null;
  const events = isTombstone ? [] : push.trail;
  const trail = adoptedTrail(events);
  const common = {
    ...{ row, tokenDigest: vault.tokenDigest(urlToken), trail, eventCount: events.length },
    linkDeliveries: await sealLinkDeliveries(deps, row, trail),
  };
  if (open === null || upload === undefined) return { ...common, sealed: null, files: [], storedBytes: 0 };
  const { dataKey, files } = upload;
  const payloadPlace = { ...row, fileIds: files.map((file) => file.id) };
  return {
    ...common,
    sealed: {
      dataKey: sealDataKey(vault.keyring, row, { urlToken, passphraseHash, dataKey }, random),
      payload: sealPayload(dataKey, payloadPlace, open.payload, random),
    },
    files,
    storedBytes: Buffer.byteLength(open.payload) + upload.storedBytes,
  };
}

/** Of what its owner had mailed there. Nothing of it is sent from here. */
export async function sealLinkDeliveries(
  { vault, linkDeliveryIds }: Pick<AdoptionDeps, "vault" | "linkDeliveryIds">,
  { id: pushId, ownerId }: Pick<PushRow, "id" | "ownerId">,
  trail: readonly AdoptedEntry[],
): Promise<readonly LinkDeliveryRow[]> {
  const rows: LinkDeliveryRow[] = [];
  for (const { sequence, linkDelivery } of trail) {
    if (linkDelivery === null || ownerId === null) continue;
    rows.push(pastLinkDelivery(vault.keyring, { id: await linkDeliveryIds.next(), pushId, sequence }, linkDelivery));
  }
  return rows;
}

function rowOf(deps: AdoptionDeps, id: number, push: AdoptedPush, passphraseSalt: Buffer | null): PushRow {
  const label = (context: string, text: string) =>
    push.ownerId === null ? null : sealLabel(deps.vault.keyring, context, text);
  return {
    id,
    kind: push.kind,
    ownerId: push.ownerId,
    createdAt: push.createdAt,
    updatedAt: push.updatedAt,
    expiresAt: expiryOf(push),
    endedAt: push.end?.at ?? null,
    endReason: push.end?.reason ?? null,
    expireAfterDays: push.expireAfterDays,
    expireAfterViews: push.expireAfterViews,
    views: push.views,
    refusals: push.refusals,
    ...optionsBy((option) => push[option] ?? false),
    sealGeneration: firstGeneration,
    linkSalt: deps.random.bytes(saltBytes),
    passphraseSalt,
    tokenSealed: label(sealContexts.token(id), push.urlToken),
    nameSealed: label(sealContexts.name(id), push.name),
    noteSealed: label(sealContexts.note(id), push.note),
  };
}

function expiryOf({ createdAt, expireAfterDays }: AdoptedPush): number {
  return Math.min(createdAt + Math.max(expireAfterDays, 0) * dayMs, latestExpiry);
}

async function writeRows(db: Database, rows: AdoptedRows, note: NotePush): Promise<boolean> {
  const { value } = await writeUntilKnown(() =>
    db.write(async (tx) => {
      const noted = await note(tx, rows.row.id);
      if (noted === "now") await adoptRows(tx, db.engine, rows);
      return noted !== "other";
    }),
  );
  return value;
}

/** An event from elsewhere. Its texts may be anything; times in ms since the epoch. */
export interface AdoptedEvent extends AuditRecord {
  readonly updatedAt: number;
  /** Of creation_email_send: what was mailed there. */
  readonly linkDelivery: LinkDeliveryReport | null;
}

/** As the store holds it: `sequence` is negative for the entries that stand for many. */
export interface AdoptedEntry extends AdoptedEvent {
  readonly sequence: number;
  readonly times: number;
}

/**
 * The same trail as if the events had happened here: texts cut, referrers without links, and what comes after the first
 * thousand folded where it is of a kind that is. @param events oldest first.
 */
export function adoptedTrail(events: readonly AdoptedEvent[]): readonly AdoptedEntry[] {
  const entries: AdoptedEntry[] = [];
  const folded = new Map<AuditKind, AdoptedEntry>();
  for (const [at, event] of events.entries()) {
    const count = at + 1;
    const clean = cleanEvent(event);
    if (!folds(event.kind, count)) {
      entries.push({ ...clean, sequence: count, times: 1 });
      continue;
    }
    const earlier = folded.get(event.kind);
    const [began, times] = [earlier?.at ?? clean.at, (earlier?.times ?? 0) + 1];
    folded.set(event.kind, { ...clean, sequence: foldedSequence(event.kind), at: began, times });
  }
  return [...entries, ...folded.values()];
}

function cleanEvent(event: AdoptedEvent): AdoptedEvent {
  return {
    ...event,
    address: cutText(event.address),
    userAgent: cutText(event.userAgent),
    // Links are told by their shape: which address the other installation had, nobody says.
    referrer: cutText(cleanReferrer(event.referrer, "")),
  };
}

/** What a push can come in without, and be given later. */
export interface MissingParts {
  readonly note: boolean;
  /** The trail as a whole; with it, what mails say and who did what. */
  readonly trail: boolean;
}

/**
 * Gives a push that was adopted without some parts what `push` has of them now, in one transaction.
 * @param broughtEvents how many events its trail came with.
 * @param settle runs last in the transaction.
 */
export async function completeAdopted(
  deps: Pick<AdoptionDeps, "db" | "vault" | "linkDeliveryIds">,
  { pushId, push, missing, broughtEvents }: PushToComplete,
  settle: (tx: Transaction, completion: PushCompletion) => Promise<void>,
): Promise<PushCompletion> {
  const trail = adoptedTrail(push.trail);
  const place = { id: pushId, ownerId: push.ownerId };
  const rows = {
    ...{ pushId, trail, broughtEvents, eventCount: push.trail.length },
    noteSealed: sealLabel(deps.vault.keyring, sealContexts.note(pushId), push.note),
    linkDeliveries: missing.trail ? await sealLinkDeliveries(deps, place, trail) : [],
  };
  return await deps.db.write(async (tx) => {
    const completion = {
      note: missing.note ? await fillNote(tx, rows) : undefined,
      trail: missing.trail ? await fillTrail(tx, rows) : undefined,
    };
    await settle(tx, completion);
    return completion;
  });
}

export interface PushToComplete {
  readonly pushId: number;
  readonly push: AdoptedPush;
  readonly missing: MissingParts;
  readonly broughtEvents: number;
}

/** undefined: was not missing. */
export interface PushCompletion {
  readonly note: "filled" | "superseded" | undefined;
  readonly trail: TrailCompletion | undefined;
}
