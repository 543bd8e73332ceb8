import type { LinkContent } from "./email.ts";

/** What this room does not know of mails with the link of a push. Each may be told twice. */
export interface LinkEmails {
  /** The link still opens something; asked right before the mail is sent. */
  isOfUse(letter: LinkContent): Promise<boolean>;
  settle(letter: LinkContent, fate: "sent" | "given_up"): Promise<void>;
  /** It was tried, and will be again. */
  putOff(letter: LinkContent): Promise<void>;
}
