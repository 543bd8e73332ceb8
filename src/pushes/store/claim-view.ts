import { type Database, OutcomeUnknownError } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { auditEntriesMax, auditKinds, foldedSequence, isFoldable } from "../audit/audit-trail.ts";
import { endReasons } from "../push.ts";
import type { ViewClaim } from "../store.ts";
import { claimedEntries, type PushRow, readPushes, type StoredPush } from "./tables.ts";

// Whatever was read, the guard decides. `last_claim_id`: a claim that has happened does not happen again.
const guard = `id = ? AND ended_at IS NULL AND expires_at > ? AND views < expire_after_views AND seal_generation = ?
       AND last_claim_id IS DISTINCT FROM ?`;
type Guard = [pushId: number, now: number, sealGeneration: number, claimId: number];

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
const ontoFolded = `ON CONFLICT (push_id, sequence) DO UPDATE SET times = audit_entries.times + 1,
       user_id = excluded.user_id, address = excluded.address, user_agent = excluded.user_agent,
       referrer = excluded.referrer, updated_at = excluded.updated_at, claim_id = excluded.claim_id`;
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
 * The guard, the count, the audit entry and, on the last view, the end of the secret: one statement is one transaction.
 * Its parts see the data as it was before it, and each other's rows only through what they return; two parts never
 * touch the same row, for an anonymous push that ends gets no entry and loses the older ones.
 */
const isLast = "views + ? >= expire_after_views";
const anyView = sql<
  [
    ...[viewed: number, claimId: number, viewed: number, endedAt: number, viewed: number, viewed: number],
    ...[updatedAt: number, ...Guard, blobsDueAt: number, ...Entry, tellsOwner: number],
  ],
  StoredPush
>(
  `WITH claimed AS (
     UPDATE pushes SET views = views + ?, audit_count = audit_count + 1, last_claim_id = ?,
       ended_at = CASE WHEN ${isLast} THEN CAST(? AS BIGINT) END,
       end_reason = CASE WHEN ${isLast} THEN ${endReasons.views} END,
       updated_at = CASE WHEN ${isLast} THEN ? ELSE updated_at END
     WHERE ${guard} RETURNING *
   ), ended AS (
     SELECT id, data_key_id, owner_id FROM claimed WHERE ended_at IS NOT NULL
   ), key AS (
     DELETE FROM data_keys USING ended WHERE data_keys.id = ended.data_key_id
   ), payload AS (
     DELETE FROM payloads USING ended WHERE payloads.push_id = ended.id
   ), blobs AS (
     INSERT INTO blob_deletions (blob_key, due_at, attempts)
     SELECT blob_key, CAST(? AS BIGINT), 0 FROM files JOIN ended ON files.push_id = ended.id
     ON CONFLICT (blob_key) DO UPDATE SET due_at = least(blob_deletions.due_at, excluded.due_at)
   ), trail AS (
     DELETE FROM audit_entries USING ended WHERE audit_entries.push_id = ended.id AND ended.owner_id IS NULL
   ), entry AS (
     ${insertEntry} WHERE owner_id IS NOT NULL OR ended_at IS NULL ${ontoFolded}
   ), notice AS (
     INSERT INTO view_notifications (push_id, sequence)
     SELECT id, audit_count FROM claimed WHERE notify_on_view = 1 AND CAST(? AS BIGINT) = 1
   )
   SELECT ${readPushes.selectList} FROM claimed`,
);

// Each part costs the server something even where it finds nothing to do. These two do the same as the one above for
// most views, with the parts that those need, and let nothing through that needs the others.
const viewBeforeLast = sql<[viewed: number, claimId: number, ...Guard, viewed: number, ...Entry], StoredPush>(
  `WITH claimed AS (
     UPDATE pushes SET views = views + ?, audit_count = audit_count + 1, last_claim_id = ?
     WHERE ${guard} AND views + ? < expire_after_views RETURNING *
   ), entry AS (
     ${insertEntry} ${ontoFolded}
   )
   SELECT ${readPushes.selectList} FROM claimed`,
);
const lastViewOfAnonymous = sql<[claimId: number, endedAt: number, updatedAt: number, ...Guard], StoredPush>(
  `WITH claimed AS (
     UPDATE pushes SET views = views + 1, audit_count = audit_count + 1, last_claim_id = ?, ended_at = ?,
       end_reason = ${endReasons.views}, updated_at = ?
     WHERE ${guard} AND views + 1 >= expire_after_views AND owner_id IS NULL RETURNING *
   ), key AS (
     DELETE FROM data_keys USING claimed WHERE data_keys.id = claimed.data_key_id
   ), payload AS (
     DELETE FROM payloads USING claimed WHERE payloads.push_id = claimed.id
   ), trail AS (
     DELETE FROM audit_entries USING claimed WHERE audit_entries.push_id = claimed.id
   )
   SELECT ${readPushes.selectList} FROM claimed`,
);

/** Whether a claim whose answer was lost has happened: the row names the last one, the trail all of a living push. */
const claimedBefore = sql<[pushId: number, claimId: number, claimId: number], StoredPush>(
  `SELECT ${readPushes.selectList} FROM pushes WHERE id = ? AND (last_claim_id = ?
     OR EXISTS (SELECT 1 FROM audit_entries WHERE push_id = pushes.id AND claim_id = ?))`,
);

const triesMax = 3;

type Claiming = Pick<Database, "autocommit" | "hot" | "lookUp">;

/**
 * @returns the push as it stands after the claim; undefined when the guard refused and nothing was written.
 * @throws OutcomeUnknownError when it cannot be told: then the view may have been counted, and nobody gets the secret
 * for it.
 */
export async function claimInOneStatement(db: Claiming, claim: ViewClaim): Promise<PushRow | undefined> {
  let unanswered: OutcomeUnknownError | undefined;
  for (let tries = 1; ; tries += 1) {
    let isRefused = false;
    try {
      const raw = (await claimAsSeen(db, claim)) ?? (await claimAny(db, claim));
      if (raw !== undefined) return readPushes.decode(raw);
      if (unanswered === undefined) return undefined;
      isRefused = true;
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError)) throw error;
      unanswered = error;
    }
    const raw = await db.lookUp.one(claimedBefore, claim.pushId, claim.claimId, claim.claimId);
    if (raw !== undefined) return readPushes.decode(raw);
    // Refused after an answer was lost: it may have been counted before another claim took the last view, which leaves
    // no trail of an anonymous push.
    if (isRefused || tries >= triesMax) throw unanswered;
  }
}

/** By the statement that what was read calls for; undefined: there is none, or it let nothing through. */
async function claimAsSeen({ hot }: Claiming, claim: ViewClaim): Promise<StoredPush | undefined> {
  const { pushId, claimId, now, counted, seen } = claim;
  const viewed = counted ? 1 : 0;
  if (tellsOwner(claim) && seen.notifyOnView) return undefined;
  if (seen.views + viewed < seen.expireAfterViews) {
    const given = [viewed, claimId, ...guardOf(claim), viewed, ...entryOf(claim)] as const;
    return await hot.update(pushId, viewBeforeLast, ...given);
  }
  // Nobody can add files to a push without an owner.
  if (seen.ownerId !== null || seen.hasFiles) return undefined;
  return await hot.update(pushId, lastViewOfAnonymous, claimId, now, now, ...guardOf(claim));
}

async function claimAny(db: Claiming, claim: ViewClaim): Promise<StoredPush | undefined> {
  const { claimId, now, counted, blobsDueAt } = claim;
  const viewed = counted ? 1 : 0;
  const counting = [viewed, claimId, viewed, now, viewed, viewed, now] as const;
  const entry = [...entryOf(claim), tellsOwner(claim) ? 1 : 0] as const;
  return await db
    .autocommit({ retry: "whenNotExecuted" })
    .one(anyView, ...counting, ...guardOf(claim), blobsDueAt, ...entry);
}

function guardOf({ pushId, now, sealGeneration, claimId }: ViewClaim): Guard {
  return [pushId, now, sealGeneration, claimId];
}

function entryOf({ claimId, audit }: ViewClaim): Entry {
  const kind = auditKinds[audit.kind];
  const sequence = isFoldable(audit.kind) ? foldedSequence(audit.kind) : null;
  const { userId, address, userAgent, referrer, at } = audit;
  return [sequence, kind, userId, address, userAgent, referrer, at, at, claimId];
}

/** A counted view of somebody else's; whether the owner wants to know stands in the row. */
function tellsOwner({ counted, byAnother }: ViewClaim): boolean {
  return counted && byAnother;
}
