import Bowser from "bowser";

/** What a user agent says of itself. Anybody can send anything: good for telling a story, never for a decision. */
export interface BrowserFacts {
  /** Without a version, e.g. `Firefox`; "": it cannot be told. */
  readonly browser: string;
  /** E.g. `Windows`; "": it cannot be told. */
  readonly system: string;
}

/** What is kept of a user agent, in UTF-16 code units. */
export const userAgentLengthMax = 255;
const nameLengthMax = 60;
/** RFC 9110, section 10.1.5: the first product. Programs say there what they are; browsers all say `Mozilla`. */
const firstProduct = /^(?!Mozilla\/)([\w.-]{1,60})\//;

export function browserOf(userAgent: string): BrowserFacts {
  const shown = userAgent.slice(0, userAgentLengthMax).trim();
  // The parser refuses to be asked about nothing.
  if (shown === "") return { browser: "", system: "" };
  const { browser, os } = Bowser.parse(shown);
  const name = browser.name || (firstProduct.exec(shown)?.[1] ?? "");
  return { browser: name.slice(0, nameLengthMax), system: (os.name ?? "").slice(0, nameLengthMax) };
}
