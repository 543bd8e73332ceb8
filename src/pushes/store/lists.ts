import type { KindName } from "../../base/push-kinds.ts";
import type { ReadConnection } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { StoredRowOf } from "../../database/table.ts";
import { auditKinds } from "../audit/audit-trail.ts";
import type { PushOverview, PushSearch, PushTotals } from "../push.ts";
import {
  type PushRow,
  type PushSummary,
  pushes,
  readAuditEntries,
  readPushes,
  type SealedLabels,
  type StoredPush,
} from "./tables.ts";

const summaryColumns = readPushes.pick("id", "kind", "createdAt", "expiresAt", "endedAt");
const sealedLabels = readPushes.pick("id", "nameSealed", "noteSealed");
const kindNumbers = pushes.column("kind");

const newestFirst = "ORDER BY created_at DESC, id DESC";

/** `anyKind` 1: no filter by kind. */
const filtered = (state: string) =>
  sql<[ownerId: number, now: number, anyKind: number, kind: number, limit: number, offset: number], StoredPush>(
    `SELECT ${readPushes.selectList} FROM pushes
     WHERE owner_id = ? AND (${state}) AND (CAST(? AS BIGINT) = 1 OR kind = ?) ${newestFirst} LIMIT ? OFFSET ?`,
  );
const lists = {
  active: filtered("ended_at IS NULL AND expires_at > ?"),
  expired: filtered("ended_at IS NOT NULL OR expires_at <= ?"),
  all: filtered("CAST(? AS BIGINT) IS NOT NULL"),
};
// The lengths come from the row's header, so the labels themselves are not fetched.
const summarized = (state: string) =>
  sql<
    [ownerId: number, createdAt: number, pushId: number, limit: number],
    StoredRowOf<typeof summaryColumns> & { labelBytes: number }
  >(
    `SELECT ${summaryColumns.selectList}, coalesce(length(name_sealed), 0) + coalesce(length(note_sealed), 0) AS labelBytes
     FROM pushes WHERE owner_id = ? AND ${state} AND (created_at, id) < (?, ?) ${newestFirst} LIMIT ?`,
  );
const summariesByState = { active: summarized("ended_at IS NULL"), all: summarized("owner_id IS NOT NULL") };
/** Selects by any number of ids, given as one JSON array. */
const among = (columns: string) => ({
  sqlite: `SELECT ${columns} FROM pushes WHERE id IN (SELECT value FROM json_each(?))`,
  postgres: `SELECT ${columns} FROM pushes WHERE id = ANY(CAST(translate(?, '[]', '{}') AS BIGINT[]))`,
});
const labelsOfPushes = sql<[pushIds: string], StoredRowOf<typeof sealedLabels>>(among(sealedLabels.selectList));
const pushesByIds = sql<[pushIds: string], StoredPush>(among(readPushes.selectList));
const trailOfPush = readAuditEntries.select<[pushId: number, limit: number, offset: number]>(
  "WHERE push_id = ? ORDER BY updated_at DESC, sequence DESC LIMIT ? OFFSET ?",
);
const oldestOfTrail = readAuditEntries.select<[pushId: number, limit: number, offset: number]>(
  "WHERE push_id = ? ORDER BY updated_at, sequence LIMIT ? OFFSET ?",
);
const trailAfter = sql<[pushId: number, endedAt: number, endedAt: number], { entries: number }>(
  `SELECT count(*) AS entries FROM audit_entries
   WHERE push_id = ? AND (updated_at > ? OR (updated_at = ? AND kind = ${auditKinds.failed_view}))`,
);
const trailFrom = readAuditEntries.select<[pushId: number, sequence: number, limit: number]>(
  "WHERE push_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
);
const foldedTrail = readAuditEntries.select<[pushId: number]>(
  "WHERE push_id = ? AND sequence < 0 ORDER BY updated_at, sequence",
);

const toRow = (stored: StoredPush) => readPushes.decode(stored);
const toEntry = (stored: StoredRowOf<typeof readAuditEntries>) => readAuditEntries.decode(stored);

export type PushLists = ReturnType<typeof createLists>;

/** Queries for the owner's pages. Lists of pushes are newest first. */
export function createLists(read: ReadConnection) {
  return {
    /** The pushes of one state and kind; null: all kinds. */
    async filtered(
      ownerId: number,
      { state, kind }: Pick<PushSearch, "state" | "kind">,
      now: number,
      limit: number,
      offset: number,
    ): Promise<readonly PushRow[]> {
      const anyKind = kind === null ? 1 : 0;
      return (await read.all(lists[state], ownerId, now, anyKind, numberOf(kind), limit, offset)).map(toRow);
    },
    /** The pushes after `last` (null: the first). `active` omits only pushes that are recorded as ended. */
    async summaries(
      ownerId: number,
      state: "active" | "all",
      last: Pick<PushSummary, "id" | "createdAt"> | null,
      limit: number,
    ): Promise<readonly PushSummary[]> {
      const { createdAt, id } = last ?? { createdAt: Number.MAX_SAFE_INTEGER, id: 0 };
      const found = await read.all(summariesByState[state], ownerId, createdAt, id, limit);
      return found.map((stored) => summaryColumns.decode(stored));
    },
    /** The labels by push id, for the pushes that exist. */
    async labels(pushIds: readonly number[]): Promise<ReadonlyMap<number, SealedLabels>> {
      const rows = await read.all(labelsOfPushes, JSON.stringify(pushIds));
      return new Map(rows.map(({ id, ...labels }) => [id, labels]));
    },
    /** In the order of the ids, without pushes that do not exist. */
    async byIds(pushIds: readonly number[]): Promise<readonly PushRow[]> {
      if (pushIds.length === 0) return [];
      const raws = new Map((await read.all(pushesByIds, JSON.stringify(pushIds))).map((raw) => [raw.id, raw]));
      return pushIds.flatMap((id) => {
        const raw = raws.get(id);
        return raw === undefined ? [] : [toRow(raw)];
      });
    },
    /** Newest first. */
    trail: async (pushId: number, limit: number, offset: number) =>
      (await read.all(trailOfPush, pushId, limit, offset)).map(toEntry),
    oldestOfTrail: async (pushId: number, limit: number, offset: number) =>
      (await read.all(oldestOfTrail, pushId, limit, offset)).map(toEntry),
    /** Counts entries with events later than the end, which includes refused views in the same millisecond. */
    countAfterEnd: async (pushId: number, endedAt: number) =>
      (await read.one(trailAfter, pushId, endedAt, endedAt))?.entries ?? 0,
    /** Single entries in the order of their events. @param sequence of the last known entry; 0: none. */
    trailFrom: async (pushId: number, sequence: number, limit: number) =>
      (await read.all(trailFrom, pushId, sequence, limit)).map(toEntry),
    /** Entries that count several events, at most one of each kind. */
    foldedTrail: async (pushId: number) => (await read.all(foldedTrail, pushId)).map(toEntry),
  };
}

function numberOf(kind: KindName | null): number {
  return kind === null ? 0 : kindNumbers.encode(kind);
}

const overviewColumns = pushes.pick(
  "id",
  "kind",
  "ownerId",
  "createdAt",
  "expiresAt",
  "endedAt",
  "endReason",
  "views",
  "expireAfterViews",
  "storedBytes",
);
const overviewSelect = `SELECT ${overviewColumns.selectList},
   CASE WHEN passphrase_salt IS NOT NULL THEN 1 ELSE 0 END AS passphraseRequired FROM pushes`;
type StoredOverview = StoredRowOf<typeof overviewColumns> & { passphraseRequired: number };
const overviewBefore = sql<[pushId: number, limit: number], StoredOverview>(
  `${overviewSelect} WHERE id < ? ORDER BY id DESC LIMIT ?`,
);
const overviewOf = sql<[pushId: number], StoredOverview>(`${overviewSelect} WHERE id = ?`);
const totals = sql<[], PushTotals>(
  `SELECT (SELECT count(*) FROM pushes WHERE ended_at IS NULL) AS live,
     (SELECT count(*) FROM pushes WHERE ended_at IS NOT NULL AND owner_id IS NULL)
       + (SELECT count(*) FROM pushes WHERE ended_at IS NOT NULL AND owner_id IS NOT NULL) AS ended,
     (SELECT count(*) FROM files) AS files,
     (SELECT coalesce(sum(size_bytes), 0) FROM files) AS fileBytes,
     (SELECT count(*) FROM blob_deletions) AS filesToDelete,
     (SELECT count(*) FROM uploads) AS uploads`,
);

const toOverview = (stored: StoredOverview): PushOverview => ({
  ...overviewColumns.decode(stored),
  passphraseRequired: stored.passphraseRequired === 1,
});

/** Queries for administrators. */
export function createAdminLists(read: ReadConnection) {
  return {
    /** Newest first. */
    before: async (pushId: number, limit: number): Promise<readonly PushOverview[]> =>
      (await read.all(overviewBefore, pushId, limit)).map(toOverview),
    async find(pushId: number): Promise<PushOverview | undefined> {
      const stored = await read.one(overviewOf, pushId);
      return stored === undefined ? undefined : toOverview(stored);
    },
    totals: async (): Promise<PushTotals> => {
      const row = await read.one(totals);
      if (row === undefined) throw new Error("The totals were not counted.");
      return row;
    },
  };
}
