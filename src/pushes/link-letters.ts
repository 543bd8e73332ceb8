import type { Clock } from "../base/clock.ts";
import { hasEnded } from "./present-push.ts";
import type { PushStore } from "./store.ts";

/** Which mail of which dispatch. */
interface LinkLetterPlace {
  readonly pushId: number;
  readonly dispatchId: number;
  readonly place: number;
}

/** For whoever sends mails: what their fate means for the dispatch that they belong to. Each may be told twice. */
export function watchLinkLetters({ store, clock }: { readonly store: PushStore; readonly clock: Clock }) {
  return {
    /** The link in it still opens something. */
    async isOfUse({ pushId }: LinkLetterPlace): Promise<boolean> {
      const row = await store.findById(pushId);
      return row !== undefined && !hasEnded(row, clock.now());
    },
    settle: ({ dispatchId, place }: LinkLetterPlace, fate: "sent" | "given_up"): Promise<void> =>
      store.dispatches.settle(dispatchId, place, fate, clock.now()),
    putOff: ({ dispatchId }: LinkLetterPlace): Promise<void> => store.dispatches.putOff(dispatchId),
  };
}
