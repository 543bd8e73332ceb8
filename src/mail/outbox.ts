import type { Keyring } from "../crypto/keyring.ts";
import type { Database } from "../db/sqlite.ts";
import type { Letter } from "./letter.ts";

export type { Letter, LetterContent, NoticeName } from "./letter.ts";

/** Mails that wait to be sent. They lie sealed, for some hold a link that works. */
export interface Outbox {
  /** False: accounts get no mails here, and `put` does nothing. */
  readonly open: boolean;
  /** Call it inside a unit of `db.write`: the letter stands when what it tells of stands, and not otherwise. */
  put(letter: Letter, now: number): void;
}

export const letterContext = "outbox:letter";

export function createOutbox(deps: {
  readonly db: Database;
  readonly keyring: () => Keyring;
  readonly open: boolean;
}): Outbox {
  const insert = deps.db.writer.prepare<[Buffer, number, number]>(
    "INSERT INTO outbox (letter_sealed, created_at, due_at, attempts) VALUES (?, ?, ?, 0)",
  );
  return {
    open: deps.open,
    put(letter, now) {
      if (!deps.open) return;
      insert.run(deps.keyring().seal(letterContext, Buffer.from(JSON.stringify(letter), "utf8")), now, now);
    },
  };
}
