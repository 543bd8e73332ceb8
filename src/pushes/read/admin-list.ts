import type { InTransaction } from "../../database/database.ts";
import type { PushDeps } from "../deps.ts";
import { endByPerson } from "../edit/end-push.ts";
import { hasEnded } from "../present-push.ts";
import type { Actor, AdminEndOutcome, AdminListFilter, AdminListPage, PushOverview, PushTotals } from "../push.ts";
import { CooperativeQueue } from "./cooperative-queue.ts";

const pageSize = 50;
/** Rows read per turn of the event loop, and per page. The second bounds the work for a filter that few pushes match. */
const turnRows = 1_000;
const rowsMax = 20_000;

export function administratorOperations(deps: Pick<PushDeps, "clock" | "clockTrust" | "config" | "store">) {
  const turns = new CooperativeQueue();
  return {
    /** The only view of pushes that administrators have: metadata, newest first. Nothing is decrypted. */
    async adminList(filter: AdminListFilter): Promise<AdminListPage> {
      const now = deps.clock.now();
      const pushes: PushOverview[] = [];
      let last = filter.beforeId ?? Number.MAX_SAFE_INTEGER;
      for (let rows = 0; rows < rowsMax; rows += turnRows) {
        await turns.next();
        const batch = await deps.store.adminLists.before(last, turnRows);
        for (const push of batch) {
          if (passes(push, filter, now)) pushes.push(push);
          last = push.id;
          if (pushes.length === pageSize) return { pushes, nextBeforeId: last };
        }
        if (batch.length < turnRows) return { pushes, nextBeforeId: null };
      }
      return { pushes, nextBeforeId: last };
    },

    totals: (): Promise<PushTotals> => deps.store.adminLists.totals(),

    /**
     * Ends a push for good as an administrator, which the audit trail of an owned push records. Uses the push's id, since most
     * url_tokens are not stored. The push ends at once, with its tickets and blobs.
     * @param together writes in the same transaction.
     */
    async endAsAdministrator(pushId: number, actor: Actor, together: InTransaction): Promise<AdminEndOutcome> {
      if (actor.user?.admin !== true) throw new Error("Only administrators may end a push by its id.");
      const now = deps.clock.now();
      const row = await deps.store.findById(pushId);
      if (row === undefined) return "unknown";
      const ended = await endByPerson(deps, row, "administrator", actor, now, together);
      return ended ? "ended" : "had_ended";
    },
  };
}

function passes(push: PushOverview, { kind, state, ownerId }: AdminListFilter, now: number): boolean {
  if (kind !== null && push.kind !== kind) return false;
  if (ownerId !== null && push.ownerId !== ownerId) return false;
  return state === "all" || (state === "expired") === hasEnded(push, now);
}
