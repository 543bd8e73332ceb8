import { beginning, end } from "./armor.ts";

/** What opens an age file: the identity of the link alone, or a passphrase first and then the identity. */
export type AgeLock = "identity" | "passphrase";

/** The base-2 logarithm of scrypt's N. See docs/end-to-end.md for the measurements. */
export const scryptWorkFactor = 16;

const lineEnd = /\r?\n/y;
const wholeLine = /[A-Za-z0-9+/]{64}\r?\n/y;
const lastLine = /(?:[A-Za-z0-9+/]{4}){0,15}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)\r?\n/y;

/** The longest header that is read, in lines of the armor. Each has 48 bytes. */
const headerArmorLinesMax = 342;

/**
 * Reads what an armored age file is sealed for, without opening it. The whole armor is checked, the header as far as its
 * recipients. Strangers choose the text: it is walked in place, and only the header, whose length is limited, is copied.
 * @returns undefined: it is not an armored age file, or is sealed for something else than X25519 recipients or a passphrase.
 */
export function findLock(text: string): AgeLock | undefined {
  const armor = text.trim();
  if (!armor.startsWith(beginning) || !armor.endsWith(end)) return undefined;
  const first = endOfMatch(lineEnd, armor, beginning.length);
  if (first === undefined) return undefined;
  let at = first;
  let headerEnd = first;
  let lines = 0;
  for (let next = endOfMatch(wholeLine, armor, at); next !== undefined; next = endOfMatch(wholeLine, armor, at)) {
    at = next;
    lines += 1;
    if (lines <= headerArmorLinesMax) headerEnd = at;
  }
  const last = endOfMatch(lastLine, armor, at) ?? at;
  if (last === first || last !== armor.length - end.length) return undefined;
  return lockOf(atob(armor.slice(first, lines < headerArmorLinesMax ? last : headerEnd)));
}

/** @param pattern sticky. @returns where its match at this position ends. */
function endOfMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const header = /^age-encryption\.org\/v1\n(.*?)\n--- [^\n]*\n/s;

/** @param binary the file's beginning, one character per byte. */
function lockOf(binary: string): AgeLock | undefined {
  const stanzas = header.exec(binary)?.[1] ?? "";
  const types = Array.from(stanzas.matchAll(/^-> ([^ \n]*)/gm), ([, type = ""]) => type);
  // Some programs add stanzas that nothing opens, to keep readers tolerant.
  const locks = types.filter((type) => !type.endsWith("-grease"));
  if (locks.length === 0) return undefined;
  if (locks.length === 1 && locks[0] === "scrypt") return "passphrase";
  return locks.every((type) => type === "X25519") ? "identity" : undefined;
}
