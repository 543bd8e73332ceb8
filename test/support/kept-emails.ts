import type { Email, Outbox } from "../../src/mail/outbox.ts";

/** An outbox whose emails stay in a list. */
export function keepEmails(): { readonly outbox: Outbox; readonly letters: readonly Email[] } {
  const letters: Email[] = [];
  const outbox: Outbox = {
    open: true,
    async put(_unit, letter) {
      letters.push(letter);
    },
    putNothing: async () => undefined,
  };
  return { outbox, letters };
}
