import type { Email } from "../../src/mail/email.ts";
import type { Outbox } from "../../src/mail/outbox.ts";

/** An outbox that records its emails. */
export function createRecordingOutbox(): { readonly outbox: Outbox; readonly emails: readonly Email[] } {
  const emails: Email[] = [];
  const outbox: Outbox = {
    open: true,
    async put(_tx, message) {
      emails.push(message);
    },
    putNothing: async () => undefined,
    isFull: async () => false,
  };
  return { outbox, emails };
}
