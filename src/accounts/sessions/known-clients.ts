import { browserOf } from "../../base/user-agent.ts";
import { digest } from "../../crypto/digests.ts";
import type { Transaction } from "../../database/database.ts";
import type { Outbox } from "../../mail/outbox.ts";
import type { ClientContext, User } from "../account.ts";
import { accountNotification } from "../account-emails.ts";
import type { KnownClientStore } from "../store/known-clients.ts";

/** Beyond it the clients seen least recently are forgotten. */
const perUserMax = 50;

/** Network, browser and system without versions: a browser update does not make a new client. */
function clientDigest(client: ClientContext): Buffer {
  const { browser, system } = browserOf(client.userAgent);
  return digest(JSON.stringify([client.throttleKey, browser, system]));
}

export type KnownClients = ReturnType<typeof createKnownClients>;

export function createKnownClients({ store, outbox }: { store: KnownClientStore; outbox: Outbox }) {
  return {
    /**
     * Runs in the transaction that starts a complete session. Remembers the client, and notifies the user by email if it
     * is new. The first client of an account causes no email.
     */
    async note(
      tx: Transaction,
      user: Pick<User, "id" | "email" | "language">,
      client: ClientContext,
      now: number,
    ): Promise<void> {
      if ((await store.noteClient(tx, user.id, { digest: clientDigest(client), now, perUserMax })) !== "new") return;
      await outbox.put(tx, accountNotification(user, "new_client", { client, at: now }), now);
    },
    /** Whether this client has completed a sign-in to the account. */
    isKnown: (userId: number, client: ClientContext): Promise<boolean> => store.hasClient(userId, clientDigest(client)),
  };
}
