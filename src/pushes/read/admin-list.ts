import type { InTransaction } from "../../database/database.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import type { PushDeps } from "../deps.ts";
import { hasEnded } from "../present-push.ts";
import type { Actor, AdminEndOutcome, AdminListFilter, AdminListPage, PushOverview } from "../push.ts";
import { CooperativeQueue } from "./cooperative-queue.ts";

const pageSize = 50;
/** Looked at in one turn of the event loop, and for one page: a filter that hardly anything passes stops there. */
const turnRows = 1_000;
const rowsMax = 20_000;

/** For administrators: what stands about pushes, of which nothing is opened. Newest first. */
export function createAdminList(
  deps: Pick<PushDeps, "clock" | "store">,
): (adminList: AdminListFilter) => Promise<AdminListPage> {
  const turns = new CooperativeQueue();
  return async (adminList) => {
    const now = deps.clock.now();
    const pushes: PushOverview[] = [];
    let last = adminList.beforeId ?? Number.MAX_SAFE_INTEGER;
    for (let rows = 0; rows < rowsMax; rows += turnRows) {
      await turns.next();
      const batch = await deps.store.adminLists.before(last, turnRows);
      for (const push of batch) {
        if (passes(push, adminList, now)) pushes.push(push);
        last = push.id;
        if (pushes.length === pageSize) return { pushes, nextBeforeId: last };
      }
      if (batch.length < turnRows) return { pushes, nextBeforeId: null };
    }
    return { pushes, nextBeforeId: last };
  };
}

function passes(push: PushOverview, { kind, state, ownerId }: AdminListFilter, now: number): boolean {
  if (kind !== null && push.kind !== kind) return false;
  if (ownerId !== null && push.ownerId !== ownerId) return false;
  return state === "all" || (state === "expired") === hasEnded(push, now);
}

/** By its number, since the url_token of most pushes is nowhere. Ended by a person: at once, with its tickets and blobs. */
export async function endAsAdministrator(
  deps: Pick<PushDeps, "clock" | "store">,
  pushId: number,
  actor: Actor,
  together: InTransaction,
): Promise<AdminEndOutcome> {
  if (actor.user?.admin !== true) throw new Error("Only administrators end pushes by their numbers.");
  const now = deps.clock.now();
  const row = await deps.store.findById(pushId);
  if (row === undefined) return "unknown";
  if (hasEnded(row, now)) return "had_ended";
  const audit = auditRecord("expire", actor, now);
  const end = { pushId, reason: "administrator", endedAt: now, blobsDueAt: 0, audit } as const;
  const ended = await deps.store.end(end, together);
  return ended ? "ended" : "had_ended";
}
