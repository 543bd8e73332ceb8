import type { Random } from "../base/random.ts";
import { digest } from "../crypto/digests.ts";
import { makeEmails } from "../crypto/tokens.ts";
import { latinDigits } from "./latin-digits.ts";

export const backupCodesMade = 10;
/** 80 bits: no guess finds one, with the throttle or without, and a digest of one tells nothing. */
const letters = 16;
const groupEmails = 4;

/** @returns ten, as people read them: `7k2m-…`, four groups of four. */
export function makeBackupCodes(random: Random): readonly string[] {
  return Array.from({ length: backupCodesMade }, () => grouped(makeEmails(random, letters), "-"));
}

/** In groups of four, for eyes that copy by hand. */
export function grouped(text: string, between: string): string {
  return (text.match(new RegExp(`.{1,${groupEmails}}`, "g")) ?? []).join(between);
}

/** @returns the bare code, whatever case, blanks and dashes somebody typed; undefined: it cannot be one. */
export function readBackupCode(typed: string): string | undefined {
  // Letters that the codes leave out are read as what they look like.
  const code = latinDigits(typed)
    .toLowerCase()
    .replace(/[\s\p{Pd}]/gu, "")
    .replaceAll("o", "0")
    .replace(/[il]/g, "1");
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(code) ? code : undefined;
}

/** @param code as `readBackupCode` returns it. */
export function backupCodeDigest(code: string): Buffer {
  return digest(code);
}
