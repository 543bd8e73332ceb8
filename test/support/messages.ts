import { findMessages, type Messages } from "../../src/i18n/i18n.ts";

/** @throws Error when the pages do not have this language. */
export function messagesIn(tag: string): Messages {
  const messages = findMessages(tag);
  if (messages?.locale.tag !== tag) throw new Error(`There are no messages in ${tag}.`);
  return messages;
}
