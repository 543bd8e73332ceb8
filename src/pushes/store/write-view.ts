import type { LinkAddress } from "../../crypto/url-token.ts";
import {
  capabilitiesOf,
  type Database,
  type OutcomeUnknownError,
  type ReadConnection,
  type Transaction,
} from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { StoredRowOf } from "../../database/table.ts";
import { type AuditRecord, auditEntriesMax, foldedSequence, isFoldable } from "../audit/audit-trail.ts";
import type { EarlierViews } from "../push.ts";
import { auditKinds, endReasons } from "../stored-values.ts";
import { insertClaimCopy, writeEarlierViews } from "./claim-retries.ts";
import { insertTickets, type NewTicket } from "./download-tickets.ts";
import { findByLink, selectByLink } from "./find-link.ts";
import { type ClaimKey, KeyUsedError, type TakenKey, takeKey } from "./idempotency-keys.ts";
import { insertViewNotification } from "./notifications.ts";
import {
  claimedEntries,
  type PushRow,
  readPushes,
  type SealedPush,
  type StoredPush,
  viewNotifications,
} from "./tables.ts";
import {
  countOntoEntry,
  endParts,
  keepsTrail,
  latestEventColumns,
  type WriteOperations,
  writeEntry,
} from "./write-operations.ts";

export interface ViewClaim {
  /** 48 random bits generated for this claim. They identify the claim if its answer is lost. */
  readonly claimId: number;
  /** The push must not have expired at this instant. */
  readonly now: number;
  /** false: the view is logged but not counted, for example an owner's view on a page. */
  readonly counted: boolean;
  /** The push as it was read. It only selects the statements to run: their guards decide whether it was true. */
  readonly asRead: Pick<SealedPush, "row" | "hasFiles">;
  /** The link is another server's, whose trail the push has kept. */
  readonly isImported: boolean;
  /** The time of the last counted view, as it was read; null: none, or nobody asks. */
  readonly lastViewAt: number | null;
  /** The view is not the owner's, so the owner is notified by email if wanted. */
  readonly notByOwner: boolean;
  readonly audit: AuditRecord;
  /** When the blobs may be deleted if the push ends. */
  readonly blobsDueAt: number;
  /** For the files of the push. */
  readonly tickets: readonly NewTicket[];
  /** undefined: the claim cannot be repeated. */
  readonly key: ClaimKey | undefined;
}

/** A claim that may be written: it has no idempotency key, or its transaction has taken it. */
type WritableClaim = ViewClaim & { readonly key: TakenKey<ClaimKey> | undefined };
type ClaimWithoutKey = ViewClaim & { readonly key: undefined };

/**
 * The guard decides, independent of earlier reads. It does not match an ended push, so of any number of concurrent claims
 * exactly `expire_after_views` succeed. Its parameters come from `guardOf`.
 */
const guard = "id = ? AND ended_at IS NULL AND expires_at > ? AND views < expire_after_views AND seal_generation = ?";
type Guard = [pushId: number, now: number, sealGeneration: number];

function guardOf({ asRead: { row }, now }: ViewClaim): Guard {
  return [row.id, now, row.sealGeneration];
}

/**
 * Matches only a push that was not edited since it was read. Then counts and the end alone can differ from what was read, so that a
 * statement returns five columns instead of thirty. If it matches nothing, a statement with the guard alone decides.
 */
const guardAsRead = `${guard} AND updated_at = ?`;
type GuardAsRead = [...Guard, updatedAt: number];

function guardAsReadOf(claim: ViewClaim): GuardAsRead {
  return [...guardOf(claim), claim.asRead.row.updatedAt];
}

const claimedColumns = readPushes.pick("views", "auditCount", "endedAt", "rowSecretId", "storedBytes");
type ClaimedColumns = StoredRowOf<typeof claimedColumns>;

function rowAfter({ asRead: { row } }: ViewClaim, { views, endedAt }: ClaimedColumns): PushRow {
  return endedAt === null ? { ...row, views } : { ...row, views, endedAt, endReason: "views", updatedAt: endedAt };
}

/** The push after the claim, and the columns that its transaction needs. */
type Claimed = Pick<ClaimedColumns, "auditCount" | "rowSecretId" | "storedBytes"> & { readonly row: PushRow };

/** Ends the push with its last view. @param viewed the number that the claim adds to the views. */
const endOnLastView = (viewed: string) => {
  const isLast = `views + ${viewed} >= expire_after_views`;
  return `ended_at = CASE WHEN ${isLast} THEN CAST(? AS BIGINT) END,
       end_reason = CASE WHEN ${isLast} THEN ${endReasons.views} END,
       updated_at = CASE WHEN ${isLast} THEN ? ELSE updated_at END,
       creator_address = CASE WHEN ${isLast} THEN NULL ELSE creator_address END`;
};

/** Whether the owner may want an email for this view. The row says whether the owner does. */
function mayNotifyOwner({ counted, notByOwner }: ViewClaim): boolean {
  return counted && notByOwner;
}

type ClaimDatabase = Pick<Database, "engine" | "autocommit" | "hot" | "read" | "write" | "untilKnown">;

type StoredSealedPush = StoredPush &
  Pick<SealedPush, "rowSecretSealed" | "payloadSealed"> & { readonly hasFiles: number };

/** Larger payloads are read by themselves, when there is memory for the answer. */
const payloadBytesAtOnce = 64 * 1024;
const readsMax = 3;

// Subselects instead of a join: with a joined table SQLite plans the whole statement again at every execution, because
// the bound digest might fit a partial index. That cost seven times as much as the read itself.
const sealedByLink = selectByLink<StoredSealedPush>(
  (condition) => `SELECT ${readPushes.selectList},
     (SELECT sealed FROM row_secrets WHERE id = pushes.row_secret_id AND pushes.ended_at IS NULL) AS rowSecretSealed,
     (SELECT CASE WHEN length(sealed) <= ${payloadBytesAtOnce} THEN sealed END FROM payloads WHERE push_id = pushes.id)
       AS payloadSealed,
     CASE WHEN EXISTS (SELECT 1 FROM files WHERE push_id = pushes.id) THEN 1 ELSE 0 END AS hasFiles
   FROM pushes ${condition}`,
);

const payloadLength = sql<[pushId: number], { bytes: number }>(
  "SELECT length(sealed) AS bytes FROM payloads WHERE push_id = ?",
);
const payloadOf = sql<[pushId: number], { sealed: Buffer }>("SELECT sealed FROM payloads WHERE push_id = ?");

const lastViewOf = sql<[pushId: number], { at: number | null }>(
  `SELECT max(updated_at) AS at FROM audit_entries WHERE push_id = ? AND kind = ${auditKinds.view}`,
);

export function claimWrites(db: ClaimDatabase, operations: Pick<WriteOperations, "engine" | "destroySecret">) {
  return {
    findSealed: (link: LinkAddress, reserve: (bytes: number) => void) =>
      findSealedPush({ one: db.hot.read }, db.read, link, reserve),

    /** The time of the last counted view, from the audit trail. */
    lastViewAt: async (pushId: number): Promise<number | null> => (await db.read.one(lastViewOf, pushId))?.at ?? null,

    /**
     * Counts a view, or logs one that does not count, and ends the push with its last view, atomically.
     * @returns the push after the claim; undefined when the guard refused, or a claim under the same idempotency key was
     * counted before, and nothing was written.
     * @throws AppError unavailable when a request with a key stood still for too long; OutcomeUnknownError when the answer was lost: the view may be counted, but the secret must not be sent.
     */
    writeView(claim: ViewClaim): Promise<PushRow | undefined> {
      if (!isWithoutKey(claim) || claim.tickets.length > 0) return claimWithSecrets(db, claim, operations);
      switch (db.engine) {
        case "sqlite":
          return db.write((tx) => claimInTransaction(tx, claim, operations));
        case "postgres":
          // Over a network each statement of a transaction is a round trip.
          return claimInOneStatement(db, claim);
      }
    },
  };
}

function isWithoutKey(claim: ViewClaim): claim is ClaimWithoutKey {
  return claim.key === undefined;
}

/**
 * @param first for the row, `read` for a large payload.
 * @param reserve is called with the length of a large payload before it is read. @throws what `reserve` throws.
 */
export async function findSealedPush(
  first: Pick<ReadConnection, "one">,
  read: ReadConnection,
  link: LinkAddress,
  reserve: (bytes: number) => void,
): Promise<SealedPush | undefined> {
  for (let reads = 1; ; reads += 1) {
    const stored = await findByLink(first, sealedByLink, link);
    if (stored === undefined) return undefined;
    const { rowSecretSealed, hasFiles } = stored;
    const row = readPushes.decode(stored);
    const payloadSealed =
      stored.payloadSealed ?? (row.endedAt === null ? await readLargePayload(read, row.id, reserve) : null);
    // The push may have ended between the two reads.
    if (payloadSealed === null && row.endedAt === null && reads < readsMax) continue;
    return { row, rowSecretSealed, payloadSealed, hasFiles: hasFiles === 1 };
  }
}

async function readLargePayload(
  read: ClaimDatabase["read"],
  pushId: number,
  reserve: (bytes: number) => void,
): Promise<Buffer | null> {
  const length = await read.one(payloadLength, pushId);
  if (length === undefined) return null;
  reserve(length.bytes);
  return (await read.one(payloadOf, pushId))?.sealed ?? null;
}

type Counting = [isRepeatable: number, endedAt: number, updatedAt: number];
const countViewIf = (condition: string, columns: string) =>
  `UPDATE pushes SET views = views + 1, audit_count = audit_count + 1,
     keeps_payload = CASE WHEN CAST(? AS BIGINT) = 1 THEN 1 ELSE keeps_payload END, ${endOnLastView("1")}
   WHERE ${condition} RETURNING ${columns}`;
const countViewAsRead = sql<[...Counting, ...GuardAsRead], ClaimedColumns>(
  countViewIf(guardAsRead, claimedColumns.selectList),
);
const countView = sql<[...Counting, ...Guard], StoredPush>(countViewIf(guard, readPushes.selectList));
const logView = sql<Guard, StoredPush>(
  `UPDATE pushes SET audit_count = audit_count + 1 WHERE ${guard} RETURNING ${readPushes.selectList}`,
);

async function countOrLog(tx: Transaction, claim: WritableClaim): Promise<Claimed | undefined> {
  const { now, counted } = claim;
  const counting = [claim.key === undefined ? 0 : 1, now, now] as const;
  const asRead = counted ? await tx.one(countViewAsRead, ...counting, ...guardAsReadOf(claim)) : undefined;
  if (asRead !== undefined) return { ...asRead, row: rowAfter(claim, asRead) };
  const stored = counted
    ? await tx.one(countView, ...counting, ...guardOf(claim))
    : await tx.one(logView, ...guardOf(claim));
  return stored && { ...stored, row: readPushes.decode(stored) };
}

/**
 * On SQLite, the sealed payload of an anonymous push stays for a minute if it is this short: nothing opens it any more, and
 * removing payloads in batches changes fewer pages.
 */
const stayingBytesMax = 1_024;

/** The creation of an anonymous push has no entry, and neither has the view that ends it. */
const eventsWithoutEntry = 2;

async function claimInTransaction(
  tx: Transaction,
  claim: WritableClaim,
  { engine, destroySecret }: Pick<WriteOperations, "engine" | "destroySecret">,
): Promise<PushRow | undefined> {
  const { audit, asRead } = claim;
  const claimed = await countOrLog(tx, claim);
  if (claimed === undefined) return undefined;
  const { row, auditCount, storedBytes, rowSecretId } = claimed;
  const { id: pushId, ownerId } = row;
  if (row.endedAt !== null) {
    // Adding files changes the generation, which the guard has compared.
    const mayHaveFiles = asRead.hasFiles;
    const isShort = ownerId === null && storedBytes <= stayingBytesMax;
    const payloadStays = isShort && claim.key === undefined && capabilitiesOf[engine].payloadsStay;
    const mayHaveTrail = claim.isImported || auditCount > eventsWithoutEntry;
    const what = { mayHaveFiles, payloadStays, mayHaveTrail };
    const ended = { rowSecretId, ownerId, storedBytes };
    await destroySecret(tx, pushId, { ended, blobsDueAt: claim.blobsDueAt, what });
  }
  if (keepsTrail(row)) await writeEntry(tx, pushId, auditCount, audit);
  // The entry of a view is never folded, so its sequence is the audit count.
  if (mayNotifyOwner(claim) && row.notifyOnView) await tx.run(insertViewNotification, pushId, auditCount);
  return row;
}

const claimedWith = readPushes.select<[pushId: number, digest: Buffer]>(
  "WHERE id = ? AND EXISTS (SELECT 1 FROM download_tickets WHERE digest = ? AND push_id = pushes.id)",
);

/**
 * The key, the copy of the row secret, the tickets and the count are one transaction: a guard that refuses undoes the others, and
 * a key that was used prevents the count. If the answer of the database is lost, the key or the tickets say whether the view
 * was counted.
 */
async function claimWithSecrets(
  db: ClaimDatabase,
  claim: ViewClaim,
  operations: Pick<WriteOperations, "engine" | "destroySecret">,
): Promise<PushRow | undefined> {
  const { tickets, counted } = claim;
  const pushId = claim.asRead.row.id;
  const [ticket] = tickets;
  try {
    return await db.untilKnown((lostAnswer) =>
      db.write(async (tx) => {
        const claimed = lostAnswer && ticket && (await tx.one(claimedWith, pushId, ticket.digest));
        if (claimed !== undefined) return readPushes.decode(claimed);
        const key = claim.key && (await takeKey(tx, claim.key));
        if (key !== undefined) await insertClaimCopy(tx, db.engine, key);
        await insertTickets(tx, db.engine, { pushId, tickets, counted });
        const row = await claimInTransaction(tx, { ...claim, key }, operations);
        if (row === undefined) throw new ClaimRefusedError();
        if (key !== undefined) await writeEarlierViews(tx, key, earlierViewsOf(claim, row));
        return row;
      }),
    );
  } catch (error) {
    if (error instanceof ClaimRefusedError || error instanceof KeyUsedError) return undefined;
    throw error;
  }
}

/** @param row the push after the claim. If others were counted since it was read, the time of the last one is unknown. */
export function earlierViewsOf({ asRead, lastViewAt }: ViewClaim, row: PushRow): EarlierViews {
  const count = row.views - 1;
  return { count, lastAt: count === asRead.row.views ? lastViewAt : null };
}

/** The guard refused. Undoes the transaction. */
class ClaimRefusedError extends Error {
  override readonly name = "ClaimRefusedError";
}

/** Claims on PostgreSQL have ids. If the answer to a claim is lost, the id finds it and prevents a second one. */
const isNew = "last_claim_id IS DISTINCT FROM ?";
const guardOfClaim = `${guard} AND ${isNew}`;
type GuardOfClaim = [...Guard, claimId: number];
const guardOfClaimAsRead = `${guardAsRead} AND ${isNew}`;
type GuardOfClaimAsRead = [...GuardAsRead, claimId: number];

const bigint = "CAST(? AS BIGINT)";
const insertEntry = claimedEntries.insertFrom("claimed", {
  pushId: "id",
  sequence: `CASE WHEN audit_count > ${auditEntriesMax} THEN coalesce(${bigint}, audit_count) ELSE audit_count END`,
  kind: bigint,
  userId: bigint,
  address: "?",
  userAgent: "?",
  referrer: "?",
  times: "1",
  createdAt: bigint,
  updatedAt: bigint,
  claimId: bigint,
});
const countOntoClaimedEntry = countOntoEntry([...latestEventColumns, "claim_id"]);
type Entry = [
  foldedSequence: number | null,
  kind: number,
  userId: number | null,
  address: string,
  userAgent: string,
  referrer: string,
  createdAt: number,
  updatedAt: number,
  claimId: number,
];

/**
 * The guard, the count, the audit entry and, on the last view, the destruction of the secret in one statement, which is one
 * transaction. All parts see the data from before the statement, even if it has waited for the row since, and other parts'
 * rows only through RETURNING. So the row itself says whether the payload stays for claims that can be repeated. Two parts
 * must never change the same row: when an anonymous push ends, no entry is inserted and the older ones are deleted.
 */
const anyView = sql<
  [
    viewed: number,
    claimId: number,
    viewed: number,
    endedAt: number,
    viewed: number,
    viewed: number,
    updatedAt: number,
    viewed: number,
    ...GuardOfClaim,
    blobsDueAt: number,
    ...Entry,
    notifiesOwner: number,
  ],
  StoredPush
>(
  `WITH claimed AS (
     UPDATE pushes SET views = views + ?, audit_count = audit_count + 1, last_claim_id = ?,
       ${endOnLastView("?")}
     WHERE ${guardOfClaim} RETURNING *
   ), ended AS (
     SELECT id, row_secret_id, owner_id, keeps_payload FROM claimed WHERE ended_at IS NOT NULL
   ), key AS (
     ${endParts.destroyRowSecret.postgres("(SELECT row_secret_id FROM ended)")}
   ), payload AS (
     ${endParts.deletePayload("(SELECT id FROM ended WHERE keeps_payload = 0)")}
   ), blobs AS (
     ${endParts.queueBlobs("(SELECT id FROM ended)")}
   ), trail AS (
     ${endParts.deleteAuditEntries("(SELECT id FROM ended WHERE owner_id IS NULL)")}
   ), entry AS (
     ${insertEntry} WHERE owner_id IS NOT NULL OR ended_at IS NULL ${countOntoClaimedEntry}
   ), notification AS (
     ${viewNotifications.insertFrom("claimed", { pushId: "id", sequence: "audit_count" })}
     WHERE notify_on_view = 1 AND CAST(? AS BIGINT) = 1
   )
   SELECT ${readPushes.selectList} FROM claimed`,
);

// Each part costs the server time even if it changes no row. These two statements do the same as the one above with
// fewer parts, and their conditions match only views that need no others.
const viewBeforeLast = sql<
  [viewed: number, claimId: number, ...GuardOfClaimAsRead, viewed: number, ...Entry],
  ClaimedColumns
>(
  `WITH claimed AS (
     UPDATE pushes SET views = views + ?, audit_count = audit_count + 1, last_claim_id = ?
     WHERE ${guardOfClaimAsRead} AND views + ? < expire_after_views RETURNING *
   ), entry AS (
     ${insertEntry} ${countOntoClaimedEntry}
   )
   SELECT ${claimedColumns.selectList} FROM claimed`,
);
const lastViewOfAnonymous = sql<
  [claimId: number, endedAt: number, updatedAt: number, ...GuardOfClaimAsRead],
  ClaimedColumns
>(
  `WITH claimed AS (
     UPDATE pushes SET views = views + 1, audit_count = audit_count + 1, last_claim_id = ?, ended_at = ?,
       end_reason = ${endReasons.views}, updated_at = ?, creator_address = NULL
     WHERE ${guardOfClaimAsRead} AND views + 1 >= expire_after_views AND owner_id IS NULL RETURNING *
   ), key AS (
     ${endParts.destroyRowSecret.postgres("(SELECT row_secret_id FROM claimed)")}
   ), payload AS (
     ${endParts.deletePayload("(SELECT id FROM claimed WHERE keeps_payload = 0)")}
   ), trail AS (
     ${endParts.deleteAuditEntries("(SELECT id FROM claimed)")}
   )
   SELECT ${claimedColumns.selectList} FROM claimed`,
);

/** Finds a claim whose answer was lost: the row has the id of the last claim, the trail of a live push has all ids. */
const claimedBefore = sql<[pushId: number, claimId: number, claimId: number], StoredPush>(
  `SELECT ${readPushes.selectList} FROM pushes WHERE id = ? AND (last_claim_id = ?
     OR EXISTS (SELECT 1 FROM audit_entries WHERE push_id = pushes.id AND claim_id = ?))`,
);

async function claimInOneStatement(db: ClaimDatabase, claim: ClaimWithoutKey): Promise<PushRow | undefined> {
  let lostAnswer: OutcomeUnknownError | undefined;
  const row = await db.untilKnown(async (lost) => {
    lostAnswer = lost;
    const before = lost === undefined ? undefined : await findClaimed(db, claim);
    const claimed = before ?? (await claimAsRead(db, claim)) ?? (await claimAny(db, claim));
    // It may have arrived between the two statements.
    return claimed ?? (lost === undefined ? undefined : await findClaimed(db, claim));
  });
  if (row !== undefined) return row;
  // Refused after a lost answer: the view may have been counted before another claim took the last view and so deleted the
  // trail of the anonymous push.
  if (lostAnswer !== undefined) throw lostAnswer;
  return undefined;
}

async function findClaimed(db: ClaimDatabase, { asRead, claimId }: ViewClaim): Promise<PushRow | undefined> {
  const stored = await db.read.one(claimedBefore, asRead.row.id, claimId, claimId);
  return stored && readPushes.decode(stored);
}

/** Tries the shorter statement for the push as it was read. Undefined: there is none, or it matched no row. */
async function claimAsRead({ hot }: ClaimDatabase, claim: ClaimWithoutKey): Promise<PushRow | undefined> {
  const { claimId, now, counted, asRead } = claim;
  const { id: pushId, views, expireAfterViews, ownerId, notifyOnView } = asRead.row;
  const viewed = counted ? 1 : 0;
  if (mayNotifyOwner(claim) && notifyOnView) return undefined;
  if (views + viewed < expireAfterViews) {
    const given = [viewed, claimId, ...guardAsReadOf(claim), claimId, viewed, ...entryOf(claim)] as const;
    const claimed = await hot.update(pushId, viewBeforeLast, ...given);
    return claimed && rowAfter(claim, claimed);
  }
  // No file can be added to an anonymous push, so this cannot have changed.
  if (ownerId !== null || asRead.hasFiles) return undefined;
  const ending = [claimId, now, now] as const;
  const claimed = await hot.update(pushId, lastViewOfAnonymous, ...ending, ...guardAsReadOf(claim), claimId);
  return claimed && rowAfter(claim, claimed);
}

async function claimAny(db: ClaimDatabase, claim: ClaimWithoutKey): Promise<PushRow | undefined> {
  const { claimId, now, counted, blobsDueAt } = claim;
  const viewed = counted ? 1 : 0;
  const counting = [viewed, claimId, viewed, now, viewed, viewed, now, viewed] as const;
  const entry = [...entryOf(claim), mayNotifyOwner(claim) ? 1 : 0] as const;
  const stored = await db
    .autocommit({ retry: "whenNotExecuted" })
    .one(anyView, ...counting, ...guardOf(claim), claimId, blobsDueAt, ...entry);
  return stored && readPushes.decode(stored);
}

function entryOf({ claimId, audit }: ViewClaim): Entry {
  const kind = auditKinds[audit.kind];
  const sequence = isFoldable(audit.kind) ? foldedSequence(audit.kind) : null;
  const { userId, address, userAgent, referrer, at } = audit;
  return [sequence, kind, userId, address, userAgent, referrer, at, at, claimId];
}
