import type { Clock } from "../base/clock.ts";
import { hasEnded } from "./present-push.ts";
import type { PushStore } from "./store.ts";

/** Which mail of which link delivery. */
interface LinkEmailPlace {
  readonly pushId: number;
  readonly linkDeliveryId: number;
  readonly recipientIndex: number;
}

/** For whoever sends mails: what their fate means for the link delivery that they belong to. Each may be told twice. */
export function watchLinkEmails({ store, clock }: { readonly store: PushStore; readonly clock: Clock }) {
  return {
    /** The link in it still opens something. */
    async isRetrievable({ pushId }: LinkEmailPlace): Promise<boolean> {
      const row = await store.findById(pushId);
      return row !== undefined && !hasEnded(row, clock.now());
    },
    settle: ({ linkDeliveryId, recipientIndex }: LinkEmailPlace, fate: "sent" | "given_up"): Promise<void> =>
      store.linkDeliveries.settle(linkDeliveryId, recipientIndex, fate, clock.now()),
    putOff: ({ linkDeliveryId }: LinkEmailPlace): Promise<void> => store.linkDeliveries.putOff(linkDeliveryId),
  };
}
