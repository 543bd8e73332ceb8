import { browserOf } from "../../base/user-agent.ts";
import type { Words } from "../../words/words.ts";

/** E.g. `Firefox on Windows`, as far as the user agent tells; a plain text, which comes from outside all the same. */
export function browserName(userAgent: string, { browser: words }: Pick<Words, "browser">): string {
  const { browser, system } = browserOf(userAgent);
  if (browser === "") return system === "" ? words.unknown : system;
  return system === "" ? browser : words.on({ browser, system });
}
