import type { InTransaction } from "../../database/database.ts";
import type { Actor } from "../actor.ts";
import { noReports, trailPage } from "../audit/read-trail.ts";
import type { PushDeps } from "../deps.ts";
import { endByPerson } from "../edit/end-push.ts";
import { hasEnded } from "../present-push.ts";
import {
  type AdminEndOutcome,
  type AdminListFilter,
  type AdminListPage,
  type AdminTrailPage,
  type PushOverview,
  type PushTotals,
  pageSize,
} from "../push.ts";
import { CooperativeQueue } from "./cooperative-queue.ts";

/** Rows read per turn of the event loop, and per page. The second bounds the work for a filter that few pushes match. */
const turnRows = 1_000;
const rowsMax = 20_000;

/** The actor of commands in a shell, which act as an administrator. */
export const shellActor: Actor = { user: null, client: "", address: "", userAgent: "", referrer: "", ownOrigin: "" };

type AdminDeps = Pick<PushDeps, "clock" | "clockTrust" | "config" | "store"> & {
  readonly vault: Pick<PushDeps["vault"], "urlTokens">;
};

function assertAdministrator(actor: Actor): void {
  if (actor !== shellActor && actor.user?.admin !== true) throw new Error("Only administrators may do this.");
}

/** A link as people copy it, or its url_token alone. */
const linkShape = /^(?:(?:https?:\/\/[^/?#]+)?\/+(?:[a-z]{2}(?:-[a-z]{2})?\/+)?[pfr]\/+)?([\w-]{8,64})(?:[/?#.].*)?$/i;

/** More wait for the next press of the button. */
const retriedDeletionsMax = 10_000;

export function administratorOperations(deps: AdminDeps) {
  const turns = new CooperativeQueue();
  return {
    /** The id of the push behind a link; undefined: there is none. Counts no view and opens nothing. */
    async findIdByLink(link: string): Promise<number | undefined> {
      const urlToken = linkShape.exec(link.trim())?.[1];
      if (urlToken === undefined) return undefined;
      return (await deps.store.find(deps.vault.urlTokens.addressOf(urlToken)))?.id;
    },

    /** The metadata of a push and a page of its audit trail; undefined: there is none. Name, note and recipients stay sealed. */
    async adminTrail(pushId: number, actor: Actor, page: number): Promise<AdminTrailPage | undefined> {
      assertAdministrator(actor);
      const row = await deps.store.adminLists.find(pushId);
      if (row === undefined) return undefined;
      const push = presentOverview(row, deps.clock.now());
      return { push, ...(await trailPage(deps, { id: pushId, push }, noReports, page)) };
    },

    /** Removes a push with everything that is known about it; ends it first. @returns false: it is unknown. */
    async removeAsAdministrator(pushId: number, actor: Actor, together: InTransaction): Promise<boolean> {
      assertAdministrator(actor);
      const row = await deps.store.findById(pushId);
      if (row === undefined) return false;
      await endByPerson(deps, row, { reason: "administrator", actor, now: deps.clock.now() });
      return await deps.store.upkeep.removeEnded(pushId, together);
    },

    /** The only list of pushes that administrators have: metadata, newest first. Nothing is decrypted. */
    async adminList(filter: AdminListFilter): Promise<AdminListPage> {
      const now = deps.clock.now();
      const pushes: PushOverview[] = [];
      let last = filter.beforeId ?? Number.MAX_SAFE_INTEGER;
      for (let rows = 0; rows < rowsMax; rows += turnRows) {
        await turns.next();
        const batch = await deps.store.adminLists.before(last, turnRows);
        for (const row of batch) {
          const push = presentOverview(row, now);
          if (passes(push, filter)) pushes.push(push);
          last = push.id;
          if (pushes.length === pageSize) return { pushes, nextBeforeId: last };
        }
        if (batch.length < turnRows) return { pushes, nextBeforeId: null };
      }
      return { pushes, nextBeforeId: last };
    },

    /** Stored files that wait to be deleted; `failed`: those of them whose deletion was tried before. */
    deletionCounts: () => deps.store.upkeep.deletionCounts(),

    /** Makes failed deletions of stored files due now. @returns how many; if 0, nothing was written. */
    retryDeletions: (together: InTransaction) =>
      deps.store.upkeep.retryDeletions(deps.clock.now(), retriedDeletionsMax, together),

    totals: (): Promise<PushTotals> => deps.store.adminLists.totals(),

    /**
     * Ends a push for good as an administrator, which the audit trail of an owned push records. Uses the push's id, since most
     * url_tokens are not stored. The push ends at once, with its tickets and blobs.
     * @param together writes in the same transaction.
     */
    async endAsAdministrator(pushId: number, actor: Actor, together: InTransaction): Promise<AdminEndOutcome> {
      assertAdministrator(actor);
      const row = await deps.store.findById(pushId);
      if (row === undefined) return "unknown";
      const end = { reason: "administrator", actor, now: deps.clock.now(), together } as const;
      return (await endByPerson(deps, row, end)) ? "ended" : "had_ended";
    },
  };
}

type OverviewRow = NonNullable<Awaited<ReturnType<PushDeps["store"]["adminLists"]["find"]>>>;

function presentOverview({ endedAt, ...row }: OverviewRow, now: number): PushOverview {
  const expired = hasEnded({ ...row, endedAt }, now);
  return {
    ...row,
    expired,
    expiredOn: expired ? (endedAt ?? row.expiresAt) : null,
    endReason: row.endReason ?? (expired ? "time" : null),
  };
}

function passes(push: PushOverview, { kind, state, ownerId }: AdminListFilter): boolean {
  if (kind !== null && push.kind !== kind) return false;
  if (ownerId !== null && push.ownerId !== ownerId) return false;
  return state === "all" || (state === "expired") === push.expired;
}
