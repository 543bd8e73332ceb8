import type { Letter, Outbox } from "../../src/mail/outbox.ts";

/** An outbox whose letters stay in a list. */
export function keepLetters(): { readonly outbox: Outbox; readonly letters: readonly Letter[] } {
  const letters: Letter[] = [];
  const outbox: Outbox = {
    open: true,
    async put(_unit, letter) {
      letters.push(letter);
    },
    putNothing: async () => undefined,
  };
  return { outbox, letters };
}
