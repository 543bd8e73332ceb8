import type { Keyring } from "../crypto/keyring.ts";
import type { Database, Unit } from "../db/database.ts";
import type { Letter, LetterKind } from "./letter.ts";
import { sealLetter } from "./sealed-letter.ts";
import { createLetterStore } from "./store/letters.ts";

export type { Letter, NoticeName } from "./letter.ts";

/** Mails that wait to be sent. They lie sealed, for some hold a link that works. */
export interface Outbox {
  /** False: no mails of its kind leave here, and `put` does nothing. */
  readonly open: boolean;
  /** @param unit of what the letter tells of: it stands when that stands, and not otherwise. */
  put(unit: Unit, letter: Letter, now: number): Promise<void>;
  /** Costs what `put` costs, and nobody gets a letter: the time taken must not tell whether somebody does. */
  putNothing(unit: Unit): Promise<void>;
}

/** For whoever can put it off when there is no room. */
export interface BoundedOutbox extends Outbox {
  /** So many wait already that strangers' letters are dropped. */
  isFull(): Promise<boolean>;
}

/**
 * Strangers can bring about many letters. While no mail server takes them they must not fill the disk, so beyond this
 * many that wait theirs are dropped. Kept are those that tell an owner what somebody did, which are as many as that, and
 * links of pushes, for which users have a limit; before one of these is put, `isFull` is asked.
 */
export const waitingMax = 10_000;

const kept: ReadonlySet<LetterKind> = new Set(["notice", "push_link", "push_view"]);

export function createOutbox(deps: {
  readonly db: Database;
  readonly keyring: () => Keyring;
  readonly open: boolean;
}): BoundedOutbox {
  const store = createLetterStore(deps.db);
  return {
    open: deps.open,
    async put(unit, letter, now) {
      if (!deps.open) return;
      if (!kept.has(letter.content.kind) && (await store.waitingReach(unit, waitingMax))) return;
      await store.insert(unit, (id) => sealLetter(deps.keyring(), id, letter), now);
    },
    async putNothing(unit) {
      if (!deps.open || (await store.waitingReach(unit, waitingMax))) return;
      await store.insertNothing(unit);
    },
    isFull: () => store.waitingReach(deps.db.read, waitingMax),
  };
}
