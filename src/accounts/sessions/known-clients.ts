import { browserOf } from "../../base/user-agent.ts";
import { digest } from "../../crypto/digests.ts";
import type { Transaction } from "../../database/database.ts";
import type { Outbox } from "../../mail/outbox.ts";
import type { ClientContext, User } from "../account.ts";
import type { KnownClientStore } from "../store/known-clients.ts";

/** Whoever signs in from everywhere makes the places forgotten that were seen least lately. */
const perUserMax = 50;

/** The network and the browser without its version: an update of the browser is no new place. */
function clientDigest(client: ClientContext): Buffer {
  const { browser, system } = browserOf(client.userAgent);
  return digest(JSON.stringify([client.throttleKey, browser, system]));
}

export type KnownClients = ReturnType<typeof createKnownClients>;

export function createKnownClients({ store, outbox }: { store: KnownClientStore; outbox: Outbox }) {
  return {
    /**
     * For the transaction that starts a complete session: remembers the place, and tells the user by mail when the
     * account was never used from there. The first place of an account is no news.
     */
    async note(
      tx: Transaction,
      user: Pick<User, "id" | "email" | "language">,
      client: ClientContext,
      now: number,
    ): Promise<void> {
      if ((await store.noteClient(tx, user.id, clientDigest(client), now, perUserMax)) !== "new") return;
      const { address, userAgent } = client;
      const content = { kind: "notice", notice: "new_client", subject: "", at: now, address, userAgent } as const;
      await outbox.put(tx, { to: user.email, language: user.language, content }, now);
    },
    /** Whether somebody has completed a sign-in to this account from there. */
    isKnown: (userId: number, client: ClientContext): Promise<boolean> => store.hasClient(userId, clientDigest(client)),
  };
}
