import type { Transaction } from "../database/database.ts";
import { type AdoptedPush, type AdoptionDeps, sealLinkDeliveries } from "./adopt.ts";
import { adoptedTrail } from "./adopt-trail.ts";
import { sealContexts, sealLabel } from "./seals.ts";
import { fillNote, fillTrail, type TrailCompletion } from "./store/completing.ts";

/** What a push can come in without, and be given later. */
export interface MissingParts {
  readonly note: boolean;
  /** The trail as a whole; with it, what mails say and who did what. */
  readonly trail: boolean;
}

/**
 * Gives a push that was adopted without some parts what `push` has of them now, in one transaction.
 * @param broughtEvents how many events its trail came with.
 * @param settle runs last in the transaction.
 */
export async function completeAdopted(
  deps: Pick<AdoptionDeps, "db" | "vault" | "linkDeliveryIds">,
  { pushId, push, missing, broughtEvents }: PushToComplete,
  settle: (tx: Transaction, completion: PushCompletion) => Promise<void>,
): Promise<PushCompletion> {
  const trail = adoptedTrail(push.trail);
  const place = { id: pushId, ownerId: push.ownerId };
  const rows = {
    ...{ pushId, trail, broughtEvents, eventCount: push.trail.length },
    noteSealed: sealLabel(deps.vault.keyring, sealContexts.note(pushId), push.note),
    linkDeliveries: missing.trail ? await sealLinkDeliveries(deps, place, trail) : [],
  };
  return await deps.db.write(async (tx) => {
    const completion = {
      note: missing.note ? await fillNote(tx, rows) : undefined,
      trail: missing.trail ? await fillTrail(tx, rows) : undefined,
    };
    await settle(tx, completion);
    return completion;
  });
}

export interface PushToComplete {
  readonly pushId: number;
  readonly push: AdoptedPush;
  readonly missing: MissingParts;
  readonly broughtEvents: number;
}

/** undefined: was not missing. */
export interface PushCompletion {
  readonly note: "filled" | "superseded" | undefined;
  readonly trail: TrailCompletion | undefined;
}
