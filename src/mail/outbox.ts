import type { Keyring } from "../crypto/keyring.ts";
import type { Database, Transaction } from "../database/database.ts";
import { type Email, type EmailKind, sealEmail } from "./email.ts";
import { createEmailStore } from "./store/emails.ts";

export type { Email, NoticeName } from "./email.ts";

/** Mails that wait to be sent. They lie sealed, for some hold a link that works. */
export interface Outbox {
  /** False: no mails of its kind leave here, and `put` does nothing. */
  readonly open: boolean;
  /** @param transaction of what the email tells of: it stands when that stands, and not otherwise. */
  put(tx: Transaction, letter: Email, now: number): Promise<void>;
  /** Costs what `put` costs, and nobody gets a email: the time taken must not tell whether somebody does. */
  putNothing(tx: Transaction): Promise<void>;
}

/** For whoever can put it off when there is no room. */
export interface BoundedOutbox extends Outbox {
  /** So many wait already that strangers' emails are dropped. */
  isFull(): Promise<boolean>;
}

/**
 * Strangers can bring about many emails. While no mail server takes them they must not fill the disk, so beyond this
 * many that wait theirs are dropped. Kept are those that tell an owner what somebody did, which are as many as that, and
 * links of pushes, for which users have a limit; before one of these is put, `isFull` is asked.
 */
export const waitingMax = 10_000;

const kept: ReadonlySet<EmailKind> = new Set(["notice", "push_link", "push_view"]);

export function createOutbox(deps: {
  readonly db: Database;
  readonly keyring: () => Keyring;
  readonly open: boolean;
}): BoundedOutbox {
  const store = createEmailStore(deps.db);
  return {
    open: deps.open,
    async put(tx, letter, now) {
      if (!deps.open) return;
      if (!kept.has(letter.content.kind) && (await store.waitingReach(tx, waitingMax))) return;
      await store.insert(tx, (id) => sealEmail(deps.keyring(), id, letter), now);
    },
    async putNothing(tx) {
      if (!deps.open || (await store.waitingReach(tx, waitingMax))) return;
      await store.insertNothing(tx);
    },
    isFull: () => store.waitingReach(deps.db.read, waitingMax),
  };
}
