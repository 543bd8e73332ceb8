import type { ClaimOutcome, KindName } from "./push.ts";
import type { Pushes } from "./pushes.ts";

/** Told what came of the two things that the domain is for; never of which push, nor of whom. */
export interface PushWatch {
  claimed(outcome: ClaimOutcome["outcome"]): void;
  created(kind: KindName): void;
}

/** The same door, with somebody who counts at it. */
export function watchPushes(pushes: Pushes, watch: PushWatch): Pushes {
  return {
    ...pushes,
    async create(request, actor) {
      const push = await pushes.create(request, actor);
      watch.created(push.kind);
      return push;
    },
    async claimView(urlToken, request, actor) {
      const claim = await pushes.claimView(urlToken, request, actor);
      watch.claimed(claim.outcome);
      return claim;
    },
  };
}
