import { AppError } from "../../base/errors.ts";
import { createLinkDeliveryReports } from "../audit/read-trail.ts";
import type { PushDeps } from "../deps.ts";
import { isForgotten, isOwner, toOwnedPush, toOwnersPush, toPush } from "../present-push.ts";
import type { Actor, AuditEntry, Push } from "../push.ts";

/** Pushes, or audit entries, per page. */
export const pageSize = 50;

export function readOperations(deps: PushDeps) {
  return {
    /** Counts no view and opens no secret. The owner also gets name and note. */
    async find(urlToken: string, actor: Actor): Promise<Push | undefined> {
      const now = deps.clock.now();
      const row = await deps.store.find(deps.vault.tokenDigest(urlToken));
      if (row === undefined || isForgotten(row, now)) return undefined;
      return isOwner(row, actor) ? toOwnersPush(row, urlToken, now, deps.vault.keyring) : toPush(row, urlToken, now);
    },

    /** Newest first, split by the state at this moment. */
    async list(ownerId: number, state: "active" | "expired", page: number): Promise<readonly Push[]> {
      const now = deps.clock.now();
      const { keyring } = deps.vault;
      const rows = await deps.store.list(ownerId, state, now, pageSize, (page - 1) * pageSize);
      return rows.map((row) => toOwnedPush(row, now, keyring));
    },

    /** Newest first. @throws AppError not_authenticated, forbidden, not_found. */
    async audit(urlToken: string, actor: Actor, page: number): Promise<readonly AuditEntry[]> {
      if (actor.user === null) throw new AppError("not_authenticated", "The audit trail needs an API token.");
      const row = await deps.store.find(deps.vault.tokenDigest(urlToken));
      if (row === undefined || isForgotten(row, deps.clock.now())) throw new AppError("not_found", "not-found");
      if (!isOwner(row, actor)) throw new AppError("forbidden", "Only its owner may read the audit trail of a push.");
      const reports = createLinkDeliveryReports(deps, row.id);
      const rows = await deps.store.lists.trail(row.id, pageSize, (page - 1) * pageSize);
      return await Promise.all(
        rows.map(async ({ sequence, userId: _, ...entry }) => ({
          ...entry,
          ...(await reports.of(entry.kind, sequence)),
        })),
      );
    },
  };
}
