import type { Random } from "../../base/random.ts";
import { digest } from "../../crypto/digests.ts";
import { hmacSha256 } from "../../crypto/hmac.ts";
import { makeReadableCharacters } from "../../crypto/tokens.ts";
import { latinDigits } from "../text.ts";

export const backupCodesMade = 10;
/** 80 bits: no guess finds one, with the throttle or without, and a digest of one tells nothing. */
const letters = 16;
const groupEmails = 4;

/** @returns ten, as people read them: `7k2m-…`, four groups of four. */
export function makeBackupCodes(random: Random): readonly string[] {
  return Array.from({ length: backupCodesMade }, () => grouped(makeReadableCharacters(random, letters), "-"));
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

/**
 * What backup codes of a Password Pusher installation are checked by: HMAC-SHA256 of "<id of the user there>:<code>" under
 * that installation's SECRET_KEY_BASE.
 */
export interface ImportedCodeKey {
  readonly key: Buffer;
  readonly messagePrefix: string;
}

const hmacBlockBytes = 64;

/**
 * HMAC hashes a key that is longer than its block before anything else (RFC 2104, section 2), so of such a key the hash is
 * enough: what is kept opens no cookie of the other installation.
 */
export function keptCodeKey(secretKeyBase: string): Buffer {
  const bytes = Buffer.from(secretKeyBase, "utf8");
  return bytes.length > hmacBlockBytes ? digest(secretKeyBase) : bytes;
}

/** To be sealed. */
export function writeImportedCodeKey({ key, messagePrefix }: ImportedCodeKey): Buffer {
  return Buffer.from(JSON.stringify([messagePrefix, key.toString("base64")]), "utf8");
}

/** @param opened what `writeImportedCodeKey` gave. */
export function openImportedCodeKey(opened: Buffer): ImportedCodeKey {
  const [messagePrefix, key]: unknown[] = JSON.parse(opened.toString("utf8"));
  if (typeof messagePrefix !== "string" || typeof key !== "string")
    throw new Error("An imported code key is malformed.");
  return { key: Buffer.from(key, "base64"), messagePrefix };
}

/** @returns the bare code, ten hex digits, whatever blanks and case somebody typed; undefined: it cannot be one. */
export function readImportedCode(typed: string): string | undefined {
  const code = latinDigits(typed).replace(/\s/g, "").toLowerCase();
  return /^[0-9a-f]{10}$/.test(code) ? code : undefined;
}

/** @param code as `readImportedCode` returns it. */
export function importedCodeDigest({ key, messagePrefix }: ImportedCodeKey, code: string): Buffer {
  return hmacSha256(key, Buffer.from(`${messagePrefix}${code}`, "utf8"));
}
