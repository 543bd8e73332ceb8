import { AppError } from "../../base/errors.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { blobsGraceMs, type PushDeps } from "../deps.ts";
import { isForgotten, isOwner, toOwnersPush, toPush } from "../present-push.ts";
import type { Actor, Push } from "../push.ts";

export function endOperations(deps: PushDeps) {
  return {
    /**
     * Ends a push for good. A push that has already ended is returned unchanged. Deletion by a person takes effect at once:
     * download tickets become void and blobs are due immediately.
     * @throws AppError not_found; not_authenticated or forbidden when it is neither the actor's nor deletable by viewers.
     */
    async expire(urlToken: string, actor: Actor): Promise<Push> {
      const now = deps.clock.now();
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      if (row === undefined || isForgotten(row, now)) throw new AppError("not_found", "not-found");
      const owner = isOwner(row, actor);
      const isDue = row.endedAt === null && row.expiresAt <= now;
      const mayEnd = owner || row.deletableByViewer;
      if (isDue && deps.clockTrust.check()) {
        const blobsDueAt = row.expiresAt + blobsGraceMs(deps.config);
        await deps.store.end({ pushId: row.id, reason: "time", endedAt: row.expiresAt, blobsDueAt, audit: null });
      } else if (row.endedAt === null && (mayEnd || !isDue)) {
        // Also when the push seems to have expired by a clock that may be wrong: its secret must be destroyed now.
        if (!mayEnd) {
          if (actor.user === null) throw new AppError("not_authenticated", "Only its owner may delete this push.");
          throw new AppError("forbidden", "Only its owner may delete this push.");
        }
        const audit = auditRecord("expire", actor, now);
        const reason = owner ? "owner" : "viewer";
        await deps.store.end({ pushId: row.id, reason, endedAt: now, blobsDueAt: 0, audit });
      } else if (owner || row.deletableByViewer) {
        // It has ended, but its last views could still be repeated.
        await deps.store.claimRetries.voidAll(row.id);
      }
      const ended = (await deps.store.findById(row.id)) ?? row;
      return owner ? toOwnersPush(ended, urlToken, now, deps.vault.keyring) : toPush(ended, urlToken, now);
    },
  };
}
