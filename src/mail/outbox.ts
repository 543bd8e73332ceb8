import type { Keyring } from "../crypto/keyring.ts";
import type { Database, Transaction } from "../database/database.ts";
import { type Email, type EmailKind, sealEmail } from "./email.ts";
import { createEmailStore } from "./store/emails.ts";

/**
 * While no mail server accepts emails, strangers must not be able to fill the disk by causing them. Beyond this many
 * waiting emails, further ones are dropped, except for the kinds in `neverDropped`.
 */
export const waitingMax = 10_000;

/**
 * Account notifications are limited by the number of changes, only administrators invite, and only operators break glass. `isFull` is
 * checked before a push's link or the notification of a view is queued. An answer to a request is a push, which is larger than its
 * email and counts in the limits of pushes.
 */
const neverDropped: ReadonlySet<EmailKind> = new Set([
  "account_notification",
  "break_glass",
  "invitation",
  "push_link",
  "push_view",
  "request_answered",
]);

export type Outbox = ReturnType<typeof createOutbox>;

/** Emails that wait to be sent. They are stored sealed, because some contain a working link. */
export function createOutbox(deps: { readonly db: Database; readonly keyring: () => Keyring; readonly open: boolean }) {
  const store = createEmailStore(deps.db);
  return {
    /** False: this server sends no emails of this kind, and `put` does nothing. */
    open: deps.open,
    /** @param tx the transaction of the change that causes the email: both are committed, or neither. */
    async put(tx: Transaction, message: Email, now: number): Promise<void> {
      if (!deps.open) return;
      if (!neverDropped.has(message.content.kind) && (await store.hasWaiting(tx, waitingMax))) return;
      await store.insert(tx, (id) => sealEmail(deps.keyring(), id, message), now);
    },
    /** Costs as much as `put` and queues nothing, so that the time taken does not reveal whether an email is sent. */
    async putNothing(tx: Transaction): Promise<void> {
      if (!deps.open || (await store.hasWaiting(tx, waitingMax))) return;
      await store.insertNothing(tx);
    },
    /** So many emails wait that no further one should be accepted. */
    isFull: () => store.hasWaiting(deps.db.read, waitingMax),
  };
}
