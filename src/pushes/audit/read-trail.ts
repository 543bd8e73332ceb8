import type { Actor } from "../actor.ts";
import type { PushDeps } from "../deps.ts";
import { reportOf } from "../notifications/link-deliveries.ts";
import { isForgotten, isProvenOwner, ownerKeysOf, toListedPush, toOwnersPush } from "../present-push.ts";
import {
  type AuditEntry,
  type AuditKind,
  type ListedPush,
  type OthersTrailPage,
  type OwnedPush,
  pageSize,
  type TrailActor,
  type TrailEvent,
  type TrailPage,
  type WholeTrail,
} from "../push.ts";
import { type FileDetails, openOwnedFileDetails } from "../seals.ts";
import type { PushRow, TrailRow } from "../store/tables.ts";

const exportSliceRows = 500;

interface Owned {
  readonly id: number;
  readonly push: TrailSubject;
}

/** Undefined: the push is unknown, or belongs to another user. Callers must not reveal which. */
async function findOwned(
  deps: PushDeps,
  urlToken: string,
  actor: Actor,
): Promise<(Owned & { readonly push: OwnedPush }) | undefined> {
  const now = deps.clock.now();
  const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
  if (row === undefined || isForgotten(row, now)) return undefined;
  if (!isProvenOwner(row, urlToken, actor, deps.vault)) return undefined;
  return { id: row.id, push: toOwnersPush(row, urlToken, now, deps.vault.keyring) };
}

export function trailOperations(deps: PushDeps) {
  return {
    /** The time of the last counted view by id, for those of an owner's pushes that have one. */
    lastViews: (pushes: readonly Pick<ListedPush, "id">[]) => deps.store.lists.lastViews(pushes.map(({ id }) => id)),

    /** For the owner's audit page. Undefined: the push is unknown, or belongs to another user. */
    async trail(urlToken: string, actor: Actor, page: number): Promise<TrailPage | undefined> {
      const owned = await findOwned(deps, urlToken, actor);
      if (owned === undefined) return undefined;
      const { id, push } = owned;
      const reports = createLinkDeliveryReports(deps, { id, ownerId: push.ownerId });
      const files = await filesOf(deps, { id, ownerId: push.ownerId });
      return { push, files, ...(await trailPage(deps, owned, reports, page)) };
    },

    /**
     * For somebody who may see what this owner does: the recipients of links stay sealed. Undefined: the push is unknown, or belongs to
     * another user.
     */
    async trailOfOwner(pushId: number, ownerId: number, page: number): Promise<OthersTrailPage | undefined> {
      const [row] = await deps.store.lists.byIds([pushId]);
      if (row === undefined || row.ownerId !== ownerId) return undefined;
      const push = toListedPush(row, deps.clock.now(), await ownerKeysOf(deps, ownerId));
      return push && { push, ...(await trailPage(deps, { id: pushId, push }, noReports, page)) };
    },

    /** Undefined: the push is unknown, or belongs to another user. */
    async wholeTrail(urlToken: string, actor: Actor): Promise<WholeTrail | undefined> {
      const owned = await findOwned(deps, urlToken, actor);
      if (owned === undefined) return undefined;
      return { push: owned.push, events: eventsOf(deps, owned) };
    },
  };
}

export async function filesOf(
  { store, vault }: Pick<PushDeps, "store" | "vault">,
  push: Pick<PushRow, "id" | "ownerId">,
) {
  return (await store.files(push.id)).map((file) => {
    const details = openOwnedFileDetails(vault.keyring, { ...file, ownerId: push.ownerId });
    return { ...(details ?? unreadable), sizeBytes: file.sizeBytes };
  });
}

/** Replaces a file name that was tampered with, so that it does not block the rest. */
const unreadable: FileDetails = { filename: "", contentType: "" };

/** Newest first, 50 a page. */
export async function trailPage(
  { store: { lists } }: Pick<PushDeps, "store">,
  { id, push }: Owned,
  reports: LinkDeliveryReports,
  page: number,
): Promise<Pick<TrailPage, "events" | "hasMore">> {
  const first = (page - 1) * pageSize;
  const limit = limitEvent(push);
  // The end is listed among the entries, so the entries after it move by one position.
  const position = limit === undefined ? Number.POSITIVE_INFINITY : await lists.countAfterEnd(id, limit.createdAt);
  const rows = await lists.trail(id, pageSize + 1, position < first ? first - 1 : first);
  const events: TrailEvent[] = [];
  for (const row of rows) events.push(await toEvent(row, push, reports));
  if (limit !== undefined && position >= first && position <= first + pageSize)
    events.splice(position - first, 0, limit);
  return { events: events.slice(0, pageSize), hasMore: events.length > pageSize };
}

type TrailSubject = Pick<OwnedPush, "ownerId" | "endReason" | "expiredOn">;

export async function* eventsOf(deps: PushDeps, { id, push }: Owned): AsyncIterable<TrailEvent> {
  const reports = createLinkDeliveryReports(deps, { id, ownerId: push.ownerId });
  let limit = limitEvent(push);
  for await (const row of rowsOf(deps, id)) {
    if (limit !== undefined && isAfter(limit.createdAt, row)) {
      yield limit;
      limit = undefined;
    }
    yield await toEvent(row, push, reports);
  }
  if (limit !== undefined) yield limit;
}

/** Views are refused only after the end, even within the same millisecond. */
function isAfter(endedAt: number, row: TrailRow): boolean {
  return row.createdAt > endedAt || (row.createdAt === endedAt && row.kind === "failed_view");
}

async function* rowsOf(deps: PushDeps, pushId: number): AsyncIterable<TrailRow> {
  const { lists } = deps.store;
  let sequence = 0;
  for (;;) {
    const rows = await lists.trailFrom(pushId, sequence, exportSliceRows);
    yield* rows;
    sequence = rows.at(-1)?.sequence ?? sequence;
    if (rows.length < exportSliceRows) break;
  }
  yield* await lists.foldedTrail(pushId);
}

/** The event for an end by a limit, which has no entry in the trail. */
function limitEvent(push: TrailSubject): TrailEvent | undefined {
  const { endReason: reason, expiredOn: at } = push;
  if (at === null || (reason !== "views" && reason !== "time")) return undefined;
  return { kind: "limit", reason, createdAt: at, updatedAt: at };
}

async function toEvent({ sequence, userId, ...entry }: TrailRow, push: TrailSubject, reports: LinkDeliveryReports) {
  return { ...entry, ...(await reports.of(entry.kind, sequence)), by: actorOf(entry.kind, userId, push), userId };
}

function actorOf(kind: TrailRow["kind"], userId: number | null, push: TrailSubject): TrailActor {
  if (kind === "expire" && push.endReason === "administrator") return "administrator";
  if (userId !== null && userId === push.ownerId) return "owner";
  return kind === "admin_view" ? "administrator" : "holder";
}

export interface LinkDeliveryReports {
  /** Returns the link delivery of an entry; empty for entries of other kinds. */
  of(kind: AuditKind, sequence: number): Promise<Pick<AuditEntry, "linkDelivery">>;
}

/** For administrators: the recipients are content of their owner. */
export const noReports: LinkDeliveryReports = { of: async () => ({}) };

/** Most trails have no link deliveries, so they are read only on demand. */
export function createLinkDeliveryReports(
  { store, vault }: Pick<PushDeps, "store" | "vault">,
  { id, ownerId }: Pick<PushRow, "id" | "ownerId">,
): LinkDeliveryReports {
  let read: ReturnType<typeof store.linkDeliveries.ofPush> | undefined;
  return {
    async of(kind, sequence) {
      if (kind !== "creation_email_send") return {};
      read ??= store.linkDeliveries.ofPush(id);
      const row = (await read).find((each) => each.sequence === sequence);
      return row === undefined ? {} : { linkDelivery: reportOf(row, ownerId, vault.keyring) };
    },
  };
}
