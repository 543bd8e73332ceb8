import type { Random } from "../base/random.ts";
import { makeReadableCharacters } from "./tokens.ts";

const groups = 5;
const groupLength = 5;

/** For people to type from another screen: 125 bits as five groups of five letters and digits. */
export function makeReadableCode(random: Random): string {
  const letters = makeReadableCharacters(random, groups * groupLength);
  return Array.from({ length: groups }, (_, at) => letters.slice(at * groupLength, (at + 1) * groupLength)).join("-");
}

/** Normalises a typed code: o and 0 are equal, as are i, l and 1. @returns undefined when it is not a code. */
export function readCode(typed: string): string | undefined {
  const typedLengthMax = 4 * groups * groupLength;
  if (typed.length > typedLengthMax) return undefined;
  const letters = typed.replace(/[\s-]/g, "").toLowerCase().replace(/o/g, "0").replace(/[il]/g, "1");
  return /^[0-9a-hjkmnp-tv-z]{25}$/.test(letters) ? letters : undefined;
}
