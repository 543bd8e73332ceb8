import { browserOf } from "../base/user-agent.ts";
import { digest } from "../crypto/digests.ts";
import type { Transaction } from "../database/database.ts";
import type { Outbox } from "../mail/outbox.ts";
import type { Place, User } from "./account.ts";
import type { KnownPlaceStore } from "./store/known-places.ts";

/** Whoever signs in from everywhere makes the places forgotten that were seen least lately. */
const perUserMax = 50;

export interface KnownPlaces {
  /**
   * For the transaction that starts a complete session: remembers the place, and tells the user by mail when the
   * account was never used from there. The first place of an account is no news.
   */
  note(tx: Transaction, user: Pick<User, "id" | "email" | "language">, place: Place, now: number): Promise<void>;
  /** Whether somebody has completed a sign-in to this account from there. */
  isKnown(userId: number, place: Place): Promise<boolean>;
}

/** The network and the browser without its version: an update of the browser is no new place. */
function placeDigest(place: Place): Buffer {
  const { browser, system } = browserOf(place.userAgent);
  return digest(JSON.stringify([place.client, browser, system]));
}

export function createKnownPlaces({ store, outbox }: { store: KnownPlaceStore; outbox: Outbox }): KnownPlaces {
  return {
    async note(tx, user, place, now) {
      if ((await store.notePlace(tx, user.id, placeDigest(place), now, perUserMax)) !== "new") return;
      const { address, userAgent } = place;
      const content = { kind: "notice", notice: "new_place", subject: "", at: now, address, userAgent } as const;
      await outbox.put(tx, { to: user.email, language: user.language, content }, now);
    },
    isKnown: (userId, place) => store.hasPlace(userId, placeDigest(place)),
  };
}
