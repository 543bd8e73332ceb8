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
  const first = firstLineIn(armor);
  if (first === undefined || !armor.endsWith(end)) return undefined;
  const last = endOfLines(armor, first, Number.POSITIVE_INFINITY);
  if (last === first || last !== armor.length - end.length) return undefined;
  return findLockInHeader(armor);
}

/** The same for a text that `findLock` has accepted, or an empty one: reads the header alone. */
export function findLockInHeader(text: string): AgeLock | undefined {
  const armor = text.trim();
  const first = firstLineIn(armor);
  return first === undefined
    ? undefined
    : lockOf(atob(armor.slice(first, endOfLines(armor, first, headerArmorLinesMax))));
}

/** @returns where the encoded bytes begin. */
function firstLineIn(armor: string): number | undefined {
  return armor.startsWith(beginning) ? endOfMatch(lineEnd, armor, beginning.length) : undefined;
}

/** @returns where the lines of encoded bytes end: after `linesMax` whole ones, or the last one. */
function endOfLines(armor: string, first: number, linesMax: number): number {
  let at = first;
  for (let lines = 0; lines < linesMax; lines += 1) {
    const next = endOfMatch(wholeLine, armor, at);
    if (next === undefined) return endOfMatch(lastLine, armor, at) ?? at;
    at = next;
  }
  return at;
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

const versionLine = "age-encryption.org/v1\n";
/** As many first bytes of a file as `beginsAsAgeFile` needs, the longer beginning; an age file has more. */
export const ageBeginningBytes = beginning.length;

/** @param binary the first bytes of a file, one character per byte. @returns whether it begins as an age file, armored or not. */
export function beginsAsAgeFile(binary: string): boolean {
  return binary.startsWith(versionLine) || binary.startsWith(beginning);
}
