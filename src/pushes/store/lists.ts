import type { KindName } from "../../base/push-kinds.ts";
import type { ReadConnection } from "../../database/database.ts";
import { type DriverRow, sql } from "../../database/statement.ts";
import type { StoredRowOf } from "../../database/table.ts";
import type { PushOrder, PushSearch, PushTotals } from "../push.ts";
import { auditKinds } from "../stored-values.ts";
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

/** Every order has an index that begins with the owner. */
const endsAt = "coalesce(ended_at, expires_at)";
const orders = {
  newest: { by: "created_at", after: "<", direction: "DESC" },
  oldest: { by: "created_at", after: ">", direction: "ASC" },
  soonest: { by: endsAt, after: ">", direction: "ASC" },
  latest: { by: endsAt, after: "<", direction: "DESC" },
} as const;
type Order = (typeof orders)[PushOrder];
const orderNames = Object.keys(orders) as readonly PushOrder[];

const sorted = ({ by, direction }: Order) => `ORDER BY ${by} ${direction}, id ${direction}`;

/** By end, a state is a range of the index: no push has ended later than now. */
function stateConditions({ by }: Order) {
  const all = "CAST(? AS BIGINT) IS NOT NULL";
  if (by === endsAt) return { active: `${endsAt} > ?`, expired: `${endsAt} <= ?`, all };
  return { active: "ended_at IS NULL AND expires_at > ?", expired: "ended_at IS NOT NULL OR expires_at <= ?", all };
}

function forEachOrder<T>(make: (order: Order) => T): Readonly<Record<PushOrder, T>> {
  return Object.fromEntries(orderNames.map((name) => [name, make(orders[name])])) as Record<PushOrder, T>;
}

const filtered = (order: Order, state: string) =>
  sql<[ownerId: number, now: number, kindFrom: number, kindTo: number, limit: number, offset: number], StoredPush>(
    `SELECT ${readPushes.selectList} FROM pushes
     WHERE owner_id = ? AND (${state}) AND kind >= ? AND kind <= ? ${sorted(order)} LIMIT ? OFFSET ?`,
  );
const lists = forEachOrder((order) => {
  const { active, expired, all } = stateConditions(order);
  return { active: filtered(order, active), expired: filtered(order, expired), all: filtered(order, all) };
});
// The lengths come from the row's header, so the labels themselves are not fetched.
const summarized = (order: Order, condition: string) => {
  const { by, after } = order;
  const statement = (from: string) =>
    `SELECT ${summaryColumns.selectList}, coalesce(length(name_sealed), 0) + coalesce(length(note_sealed), 0) AS labelBytes
     FROM pushes WHERE owner_id = ? AND (${condition}) AND ${from} AND (${by}, id) ${after} (?, ?) ${sorted(order)} LIMIT ?`;
  return sql<
    [ownerId: number, now: number, from: number, sortedBy: number, pushId: number, limit: number],
    StoredRowOf<typeof summaryColumns> & { labelBytes: number }
  >({
    // It does not search an index by a pair that contains an expression.
    sqlite: statement(`${by} ${after}= ?`),
    // It would take a second bound for one that leaves few rows to sort.
    postgres: statement("CAST(? AS BIGINT) IS NOT NULL"),
  });
};
const summaries = forEachOrder((order) => {
  const { active, all } = stateConditions(order);
  return { active: summarized(order, order.by === endsAt ? all : active), all: summarized(order, all) };
});
/** A statement with any number of ids, given as one JSON array. */
const withIds = <Row extends DriverRow<Row>>(text: (amongIds: string) => string) =>
  sql<[pushIds: string], Row>({
    sqlite: text("IN (SELECT value FROM json_each(?))"),
    postgres: text("= ANY(CAST(translate(?, '[]', '{}') AS BIGINT[]))"),
  });
const labelsOfPushes = withIds<StoredRowOf<typeof sealedLabels>>(
  (amongIds) => `SELECT ${sealedLabels.selectList} FROM pushes WHERE id ${amongIds}`,
);
const pushesByIds = withIds<StoredPush>(
  (amongIds) => `SELECT ${readPushes.selectList} FROM pushes WHERE id ${amongIds}`,
);
const lastViewsOfPushes = withIds<{ id: number; at: number }>(
  (amongIds) => `SELECT push_id AS id, max(updated_at) AS at FROM audit_entries
   WHERE push_id ${amongIds} AND kind = ${auditKinds.view} GROUP BY push_id`,
);
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

export function createLists(read: ReadConnection) {
  return {
    /** The pushes of one state and kind; null: all kinds. */
    async filtered(
      ownerId: number,
      { state, kind, order }: Pick<PushSearch, "state" | "kind" | "order">,
      { now, limit, offset }: { readonly now: number; readonly limit: number; readonly offset: number },
    ): Promise<readonly PushRow[]> {
      const [from, to] = kindRange(kind);
      return (await read.all(lists[order][state], ownerId, now, from, to, limit, offset)).map(toRow);
    },
    /**
     * The pushes after `last`; null: from the first of that state on. The active ones among them are not selected by end: there
     * they are one after the other.
     */
    async summaries(
      ownerId: number,
      { state, order }: Pick<PushSearch, "state" | "order">,
      { now, last, limit }: { readonly now: number; readonly last: PushSummary | null; readonly limit: number },
    ): Promise<readonly PushSummary[]> {
      const [sortedBy, pushId] = last === null ? startOf(order, state, now) : positionOf(last, order);
      // By creation, the statement must not pass over any number of active pushes: callers bound what it returns.
      const statement = summaries[order][state === "active" ? "active" : "all"];
      const found = await read.all(statement, ownerId, now, sortedBy, sortedBy, pushId, limit);
      return found.map((stored) => summaryColumns.decode(stored));
    },
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
    async lastViews(pushIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
      const rows = await read.all(lastViewsOfPushes, JSON.stringify(pushIds));
      return new Map(rows.map(({ id, at }) => [id, at]));
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

function positionOf(push: PushSummary, order: PushOrder): [sortedBy: number, pushId: number] {
  return [orders[order].by === endsAt ? (push.endedAt ?? push.expiresAt) : push.createdAt, push.id];
}

/** Before the first push of the order; by end, before the first one of that state. */
function startOf(order: PushOrder, state: PushSearch["state"], now: number): [sortedBy: number, pushId: number] {
  if (order === "soonest" && state === "active") return [now, Number.MAX_SAFE_INTEGER];
  if (order === "latest" && state === "expired") return [now, Number.MAX_SAFE_INTEGER];
  return orders[order].after === "<" ? [Number.MAX_SAFE_INTEGER, 0] : [-1, 0];
}

/** A range, because an index can check it before it reads the row. */
function kindRange(kind: KindName | null): [from: number, to: number] {
  if (kind === null) return [0, Number.MAX_SAFE_INTEGER];
  return [kindNumbers.encode(kind), kindNumbers.encode(kind)];
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

const toOverview = (stored: StoredOverview) => ({
  ...overviewColumns.decode(stored),
  passphraseRequired: stored.passphraseRequired === 1,
});

export function createAdminLists(read: ReadConnection) {
  return {
    /** Newest first. */
    before: async (pushId: number, limit: number) => (await read.all(overviewBefore, pushId, limit)).map(toOverview),
    async find(pushId: number) {
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
