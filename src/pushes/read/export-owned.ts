import { AppError } from "../../base/errors.ts";
import { eventsOf, filesOf } from "../audit/read-trail.ts";
import type { PushDeps } from "../deps.ts";
import { ownerKeysOf, toListedPush } from "../present-push.ts";
import type { ExportedPush } from "../push.ts";
import { CooperativeQueue } from "./cooperative-queue.ts";
import { summarySlices } from "./search.ts";

const sliceRows = 100;
const newestFirst = { state: "all", order: "newest" } as const;

export function exportOperations(deps: PushDeps) {
  const turns = new CooperativeQueue();
  const running = new Set<number>();

  return {
    /**
     * Everything stored about an owner's pushes that the owner may read, newest first: no payload and no key. One export per
     * owner at a time, one push per turn of the event loop. @throws (at the first step) AppError too_many_requests.
     */
    async *exportOwned(ownerId: number): AsyncIterable<ExportedPush> {
      if (running.has(ownerId)) {
        throw new AppError("too_many_requests", "Your data is being downloaded already.", { retryAfterSeconds: 5 });
      }
      running.add(ownerId);
      try {
        const keys = await ownerKeysOf(deps, ownerId);
        const every = { ownerId, search: newestFirst, now: deps.clock.now(), limit: sliceRows };
        for await (const summaries of summarySlices(deps, turns, every)) {
          for (const { id } of summaries) {
            await turns.next();
            const row = await deps.store.findById(id);
            // The push may have been purged, or have lost its owner, since it was listed.
            const push = row?.ownerId === ownerId ? toListedPush(row, deps.clock.now(), keys) : undefined;
            if (row === undefined || push === undefined) continue;
            yield { push, files: await filesOf(deps, row), events: eventsOf(deps, { id, push }) };
          }
        }
      } finally {
        running.delete(ownerId);
      }
    },
  };
}
