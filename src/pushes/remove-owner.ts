import type { PushDeps } from "./deps.ts";
import type { PushDepartures } from "./store.ts";

/** Pushes in one transaction: short enough that claims of others get in between. */
const batchRows = 100;
const ownersAtOnce = 100;

/** Resolves when all of them have ended and nothing that was the owner's is left of them but tombstones. */
export async function removeOwner(deps: Pick<PushDeps, "clock" | "store">, ownerId: number): Promise<void> {
  const now = deps.clock.now();
  while ((await deps.store.upkeep.releaseOwned(ownerId, now, batchRows)) > 0);
}

/**
 * For the sweeper: what a crash left of pushes whose owner is gone, and pushes that were on their way in just then.
 * @returns how many were released, at most about `limit`.
 */
export async function releaseDeparted(departures: PushDepartures, now: number, limit: number): Promise<number> {
  let released = 0;
  let last = 0;
  while (released < limit) {
    const owners = await departures.departedOwners(last, ownersAtOnce);
    for (const ownerId of owners) {
      if (released < limit) released += await departures.releaseOwned(ownerId, now, limit - released);
    }
    last = owners.at(-1) ?? last;
    if (owners.length < ownersAtOnce) break;
  }
  return released;
}
