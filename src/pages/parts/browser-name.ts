import { browserOf } from "../../base/user-agent.ts";
import type { Messages } from "../../i18n/i18n.ts";

/** E.g. `Firefox on Windows`, according to the user agent. The text is untrusted. */
export function browserName(userAgent: string, { browser: messages }: Pick<Messages, "browser">): string {
  const { browser, system } = browserOf(userAgent);
  if (browser === "") return system === "" ? messages.unknown : system;
  return system === "" ? browser : messages.on({ browser, system });
}
