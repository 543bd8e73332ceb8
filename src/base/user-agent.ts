import Bowser from "bowser";

/** Longer user agents are truncated, in UTF-16 code units. */
export const userAgentLengthMax = 255;
const nameLengthMax = 60;
/** RFC 9110, section 10.1.5: the first product. Programs name themselves there; all browsers send `Mozilla`. */
const firstProduct = /^(?!Mozilla\/)([\w.-]{1,60})\//;

/**
 * What a user agent claims to be. Clients can send anything: for display only, never for a decision.
 * @returns `browser` without a version, e.g. `Firefox`, and `system`, e.g. `Windows`; "": unknown.
 */
export function browserOf(userAgent: string): { readonly browser: string; readonly system: string } {
  const shown = userAgent.slice(0, userAgentLengthMax).trim();
  // The parser throws on an empty string.
  if (shown === "") return { browser: "", system: "" };
  const { browser, os } = Bowser.parse(shown);
  const name = browser.name || (firstProduct.exec(shown)?.[1] ?? "");
  return { browser: name.slice(0, nameLengthMax), system: (os.name ?? "").slice(0, nameLengthMax) };
}
