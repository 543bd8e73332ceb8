import type { LinkAddress } from "../../crypto/url-token.ts";
import {
  capabilitiesOf,
  type Database,
  type OutcomeUnknownError,
  type ReadConnection,
  type Transaction,
} from "../../database/database.ts";
import { namedSql, sql } from "../../database/statement.ts";
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
  destroySealed,
  destroySecret,
  endParts,
  keepsTrail,
  latestEventColumns,
  liveUntil,
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

/** What the statements that count a view need, by the names of their parameters. */
function valuesOf(claim: WritableClaim) {
  const { audit } = claim;
  const { row } = claim.asRead;
  return {
    pushId: row.id,
    sealGeneration: row.sealGeneration,
    readUpdatedAt: row.updatedAt,
    now: claim.now,
    viewed: claim.counted ? 1 : 0,
    isRepeatable: claim.key === undefined ? 0 : 1,
    claimId: claim.claimId,
    blobsDueAt: claim.blobsDueAt,
    notifiesOwner: mayNotifyOwner(claim) ? 1 : 0,
    foldedSequence: isFoldable(audit.kind) ? foldedSequence(audit.kind) : null,
    kind: auditKinds[audit.kind],
    userId: audit.userId,
    address: audit.address,
    userAgent: audit.userAgent,
    referrer: audit.referrer,
    loggedAt: audit.at,
  };
}
type Values = ReturnType<typeof valuesOf>;

/**
 * The guard decides, independent of earlier reads. It does not match an ended push, so of any number of concurrent claims
 * exactly `expire_after_views` succeed.
 */
const guard = `id = :pushId AND ${liveUntil} > :now AND views < expire_after_views AND seal_generation = :sealGeneration`;
/**
 * Matches only a push that was not edited since it was read. Then counts and the end alone can differ from what was read, so that a
 * statement returns five columns instead of thirty. If it matches nothing, a statement with the guard alone decides.
 */
const isAsRead = "updated_at = :readUpdatedAt";
/** Claims on PostgreSQL have ids. If the answer to a claim is lost, the id finds it and prevents a second one. */
const isNew = "last_claim_id IS DISTINCT FROM :claimId";
const isLast = "views + :viewed >= expire_after_views";

/** Ends the push with its last view. */
const endsIfLast = `ended_at = CASE WHEN ${isLast} THEN ${bigint("now")} END,
       end_reason = CASE WHEN ${isLast} THEN ${endReasons.views} END,
       updated_at = CASE WHEN ${isLast} THEN :now ELSE updated_at END,
       creator_address = CASE WHEN ${isLast} THEN NULL ELSE creator_address END`;
const keepsPayload = `keeps_payload = CASE WHEN ${bigint("isRepeatable")} = 1 THEN 1 ELSE keeps_payload END`;
const hasClaimId = "last_claim_id = :claimId";

/** Every statement that counts a view, or logs one that does not count. @param conditions in addition to the guard. */
function countView(changes: readonly string[], conditions: readonly string[] = []): string {
  return `UPDATE pushes SET ${["views = views + :viewed", "audit_count = audit_count + 1", ...changes].join(", ")}
     WHERE ${[guard, ...conditions].join(" AND ")} RETURNING`;
}

function bigint(name: keyof Values): string {
  return `CAST(:${name} AS BIGINT)`;
}

const claimedColumns = readPushes.pick("views", "auditCount", "endedAt", "rowSecretId", "storedBytes");
type ClaimedColumns = StoredRowOf<typeof claimedColumns>;

function rowAfter({ asRead: { row } }: ViewClaim, { views, endedAt }: ClaimedColumns): PushRow {
  return endedAt === null ? { ...row, views } : { ...row, views, endedAt, endReason: "views", updatedAt: endedAt };
}

/** The push after the claim, and the columns that its transaction needs. */
type Claimed = Pick<ClaimedColumns, "auditCount" | "rowSecretId" | "storedBytes"> & { readonly row: PushRow };

/** Whether the owner may want an email for this view. The row says whether the owner does. */
function mayNotifyOwner({ counted, notByOwner }: Pick<ViewClaim, "counted" | "notByOwner">): boolean {
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

export function claimWrites(db: ClaimDatabase) {
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
      if (!isWithoutKey(claim) || claim.tickets.length > 0) return claimWithSecrets(db, claim);
      switch (db.engine) {
        case "sqlite":
          return db.write((tx) => claimInTransaction(tx, claim));
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

const inTransaction = {
  asRead: namedSql<Values, ClaimedColumns>(
    `${countView([keepsPayload, endsIfLast], [isAsRead])} ${claimedColumns.selectList}`,
  ),
  any: namedSql<Values, StoredPush>(`${countView([keepsPayload, endsIfLast])} ${readPushes.selectList}`),
};

async function countOrLog(tx: Transaction, claim: WritableClaim): Promise<Claimed | undefined> {
  const values = valuesOf(claim);
  const asRead = await tx.one(inTransaction.asRead.statement, ...inTransaction.asRead.values(values));
  if (asRead !== undefined) return { ...asRead, row: rowAfter(claim, asRead) };
  const stored = await tx.one(inTransaction.any.statement, ...inTransaction.any.values(values));
  return stored && { ...stored, row: readPushes.decode(stored) };
}

/**
 * On SQLite, the sealed payload of an anonymous push stays for a minute if it is this short: nothing opens it any more, and
 * removing payloads in batches changes fewer pages.
 */
const stayingBytesMax = 1_024;

/** The creation of an anonymous push has no entry, and neither has the view that ends it. */
const eventsWithoutEntry = 2;

async function claimInTransaction(tx: Transaction, claim: WritableClaim): Promise<PushRow | undefined> {
  const { audit, asRead } = claim;
  const claimed = await countOrLog(tx, claim);
  if (claimed === undefined) return undefined;
  const { row, auditCount, storedBytes, rowSecretId } = claimed;
  const { id: pushId, ownerId } = row;
  if (row.endedAt !== null) {
    // Adding files changes the generation, which the guard has compared.
    const mayHaveFiles = asRead.hasFiles;
    const isShort = ownerId === null && storedBytes <= stayingBytesMax;
    const payloadStays = isShort && capabilitiesOf[tx.engine].payloadsStay;
    const mayHaveTrail = claim.isImported || auditCount > eventsWithoutEntry;
    const ended = { rowSecretId, ownerId, storedBytes };
    const { blobsDueAt } = claim;
    await destroySecret(tx, pushId, { ended, blobsDueAt, mayHaveFiles, payloadStays, mayHaveTrail });
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
async function claimWithSecrets(db: ClaimDatabase, claim: ViewClaim): Promise<PushRow | undefined> {
  const { tickets, counted } = claim;
  const pushId = claim.asRead.row.id;
  const [ticket] = tickets;
  try {
    return await db.untilKnown((lostAnswer) =>
      db.write(async (tx) => {
        const claimed = lostAnswer && ticket && (await tx.one(claimedWith, pushId, ticket.digest));
        if (claimed !== undefined) return readPushes.decode(claimed);
        const key = claim.key && (await takeKey(tx, claim.key));
        if (key !== undefined) await insertClaimCopy(tx, key);
        await insertTickets(tx, pushId, tickets, counted);
        const row = await claimInTransaction(tx, { ...claim, key });
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

const insertEntry = claimedEntries.insertFrom("claimed", {
  pushId: "id",
  sequence: `CASE WHEN audit_count > ${auditEntriesMax} THEN coalesce(${bigint("foldedSequence")}, audit_count) ELSE audit_count END`,
  kind: bigint("kind"),
  userId: bigint("userId"),
  address: ":address",
  userAgent: ":userAgent",
  referrer: ":referrer",
  times: "1",
  createdAt: bigint("loggedAt"),
  updatedAt: bigint("loggedAt"),
  claimId: bigint("claimId"),
});
const countOntoClaimedEntry = countOntoEntry([...latestEventColumns, "claim_id"]);

/**
 * The guard, the count, the audit entry and, on the last view, the destruction of the secret in one statement, which is one
 * transaction. All parts see the data from before the statement, even if it has waited for the row since, and other parts'
 * rows only through RETURNING. So the row itself says whether the payload stays for claims that can be repeated. Two parts
 * must never change the same row: when an anonymous push ends, no entry is inserted and the older ones are deleted.
 */
const anyView = namedSql<Values, StoredPush>(
  `WITH claimed AS (
     ${countView([hasClaimId, endsIfLast], [isNew])} *
   ), ended AS (
     SELECT id, row_secret_id, owner_id, keeps_payload FROM claimed WHERE ended_at IS NOT NULL
   ), key AS (
     ${destroySealed("row_secrets", "id = (SELECT row_secret_id FROM ended)").postgres}
   ), payload AS (
     ${endParts.deletePayload("(SELECT id FROM ended WHERE keeps_payload = 0)")}
   ), blobs AS (
     ${endParts.queueBlobs(":blobsDueAt", "(SELECT id FROM ended)")}
   ), trail AS (
     ${endParts.deleteAuditEntries("(SELECT id FROM ended WHERE owner_id IS NULL)")}
   ), entry AS (
     ${insertEntry} WHERE owner_id IS NOT NULL OR ended_at IS NULL ${countOntoClaimedEntry}
   ), notification AS (
     ${viewNotifications.insertFrom("claimed", { pushId: "id", sequence: "audit_count" })}
     WHERE notify_on_view = 1 AND ${bigint("notifiesOwner")} = 1
   )
   SELECT ${readPushes.selectList} FROM claimed`,
);

// Each part costs the server time even if it changes no row (docs/benchmarks.md has the figures). These two statements do the same
// as the one above with fewer parts, and their conditions match only views that need no others.
const viewBeforeLast = namedSql<Values, ClaimedColumns>(
  `WITH claimed AS (
     ${countView([hasClaimId], [isAsRead, isNew, `NOT (${isLast})`])} *
   ), entry AS (
     ${insertEntry} ${countOntoClaimedEntry}
   )
   SELECT ${claimedColumns.selectList} FROM claimed`,
);
const lastViewOfAnonymous = namedSql<Values, ClaimedColumns>(
  `WITH claimed AS (
     ${countView([hasClaimId, endsIfLast], [isAsRead, isNew, isLast, "owner_id IS NULL"])} *
   ), key AS (
     ${destroySealed("row_secrets", "id = (SELECT row_secret_id FROM claimed)").postgres}
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
  const { counted, asRead } = claim;
  const { id: pushId, views, expireAfterViews, ownerId, notifyOnView } = asRead.row;
  if (mayNotifyOwner(claim) && notifyOnView) return undefined;
  const isBeforeLast = views + (counted ? 1 : 0) < expireAfterViews;
  // No file can be added to an anonymous push, so this cannot have changed.
  if (!isBeforeLast && (ownerId !== null || asRead.hasFiles)) return undefined;
  const { statement, values } = isBeforeLast ? viewBeforeLast : lastViewOfAnonymous;
  const claimed = await hot.update(pushId, statement, ...values(valuesOf(claim)));
  return claimed && rowAfter(claim, claimed);
}

async function claimAny(db: ClaimDatabase, claim: ClaimWithoutKey): Promise<PushRow | undefined> {
  const connection = db.autocommit({ retry: "whenNotExecuted" });
  const stored = await connection.one(anyView.statement, ...anyView.values(valuesOf(claim)));
  return stored && readPushes.decode(stored);
}
