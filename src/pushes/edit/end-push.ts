import { AppError } from "../../base/errors.ts";
import type { InTransaction } from "../../database/database.ts";
import type { Actor } from "../actor.ts";
import { auditRecord } from "../audit/audit-trail.ts";
import { blobsGraceMs, type PushDeps } from "../deps.ts";
import { isForgotten, isListedFor, isProvenOwner, toOwnersPush, toPush } from "../present-push.ts";
import type { Push } from "../push.ts";
import type { PushRow } from "../store/tables.ts";
import type { EndReason } from "../stored-values.ts";

export function endOperations(deps: PushDeps) {
  return {
    /**
     * Ends a push for good. Deletion by a person takes effect at once: download tickets become void, claims cannot be repeated
     * and blobs are due immediately. A push that a limit has ended is returned unchanged; its tickets end with its blobs.
     * @throws AppError not_found; not_authenticated or forbidden when it is neither the actor's nor deletable by viewers.
     */
    async expire(urlToken: string, actor: Actor): Promise<Push> {
      const now = deps.clock.now();
      const row = await deps.store.find(deps.vault.urlTokens.addressOf(urlToken));
      if (row === undefined || isForgotten(row, now)) throw new AppError("not_found", "not-found");
      const owner = isProvenOwner(row, urlToken, actor, deps.vault);
      if (owner || row.deletableByViewer) {
        await endByPerson(deps, row, { reason: owner ? "owner" : "viewer", actor, now });
      } else {
        // Even if the push has ended: a stranger must not learn anything by deleting it.
        if (actor.user === null) throw new AppError("not_authenticated", "Only its owner may delete this push.");
        throw new AppError("forbidden", "Only its owner may delete this push.");
      }
      const ended = (await deps.store.findById(row.id)) ?? row;
      return owner ? toOwnersPush(ended, urlToken, now, deps.vault.keyring) : toPush(ended, urlToken, now);
    },

    /**
     * Ends those of the owner among the pushes with these ids, as `expire`, also without their links. @param ownerId null: answers to
     * a request of nobody.
     */
    async endByIds(ownerId: number | null, ids: readonly number[], actor: Actor): Promise<void> {
      for (const row of await deps.store.lists.byIds(ids)) {
        if (isListedFor(row, ownerId)) {
          await endByPerson(deps, row, { reason: "owner", actor, now: deps.clock.now() });
        }
      }
    },
  };
}

interface EndByPerson {
  readonly reason: Exclude<EndReason, "views" | "time">;
  readonly actor: Actor;
  readonly now: number;
  /** Writes in the same transaction, if the push ends. */
  readonly together?: InTransaction;
}

type EndDeps = Pick<PushDeps, "clockTrust" | "config" | "store">;

/**
 * Ends a push for a person. Afterwards no claim can be repeated, even if a limit has ended the push meanwhile. Also when the
 * push seems to have expired by a clock that may be wrong: its secret must be destroyed now.
 * @returns false when it had ended.
 */
export async function endByPerson(
  deps: EndDeps,
  row: PushRow,
  { reason, actor, now, together }: EndByPerson,
): Promise<boolean> {
  await endIfDue(deps, row, now);
  const audit = auditRecord("expire", actor, now);
  return await deps.store.end({ pushId: row.id, reason, endedAt: now, blobsDueAt: 0, audit }, together);
}

/** Records the end of a push that has expired by time, unless the clock may be wrong: the end destroys the secret. */
export async function endIfDue({ clockTrust, config, store }: EndDeps, row: PushRow, now: number): Promise<void> {
  if (row.endedAt !== null || row.expiresAt > now || !clockTrust.check()) return;
  const blobsDueAt = row.expiresAt + blobsGraceMs(config);
  await store.end({ pushId: row.id, reason: "time", endedAt: row.expiresAt, blobsDueAt, audit: null });
}
