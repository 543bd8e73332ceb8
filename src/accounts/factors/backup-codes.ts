import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import { makeReadableCharacters } from "../../crypto/tokens.ts";
import { latinDigits } from "../text.ts";

export const backupCodesMade = 10;
/** 80 bits: too many to guess, even without a limit, and too many to brute-force from a digest. */
const codeLength = 16;
const groupLength = 4;

/** @returns ten codes, formatted for people as four groups of four: `7k2m-…`. */
export function makeBackupCodes(random: Random): readonly string[] {
  return Array.from({ length: backupCodesMade }, () => grouped(makeReadableCharacters(random, codeLength), "-"));
}

/** In groups of four, to be copied by hand. */
export function grouped(text: string, between: string): string {
  return (text.match(new RegExp(`.{1,${groupLength}}`, "g")) ?? []).join(between);
}

/** @returns the code without dashes and spaces, in lower case; undefined: the text cannot be a code. */
export function readBackupCode(typed: string): string | undefined {
  // Characters that codes never contain are read as the similar ones that they do contain.
  const code = latinDigits(typed)
    .toLowerCase()
    .replace(/[\s\p{Pd}]/gu, "")
    .replaceAll("o", "0")
    .replace(/[il]/g, "1");
  return /^[0-9a-hjkmnp-tv-z]{16}$/.test(code) ? code : undefined;
}

/** Contains the user, so a row that is moved to another user verifies nothing. @param code as `readBackupCode` returns it. */
export function backupCodeDigest(access: AccessKeys, userId: number, code: string): Buffer {
  return access.digest("backup_code", userId, code);
}
