import { createHmac } from "node:crypto";
import type { Random } from "../../base/random.ts";
import type { AccessKeys } from "../../crypto/access-keys.ts";
import { digest } from "../../crypto/digests.ts";
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

/**
 * Verifies backup codes of a Password Pusher installation: it stores HMAC-SHA256 of "<id of its user>:<code>" under its
 * SECRET_KEY_BASE.
 */
export interface ImportedCodeKey {
  readonly key: Buffer;
  readonly messagePrefix: string;
}

const hmacBlockBytes = 64;

/**
 * HMAC begins by hashing a key that is longer than its block (RFC 2104, section 2), so the hash of such a key is enough.
 * Unlike the key itself, it cannot open cookies of the other installation.
 */
export function keptCodeKey(secretKeyBase: string): Buffer {
  const bytes = Buffer.from(secretKeyBase, "utf8");
  return bytes.length > hmacBlockBytes ? digest(secretKeyBase) : bytes;
}

/** Must be sealed before it is stored. */
export function writeImportedCodeKey({ key, messagePrefix }: ImportedCodeKey): Buffer {
  return Buffer.from(JSON.stringify([messagePrefix, key.toString("base64")]), "utf8");
}

/** @param opened as `writeImportedCodeKey` returned it. */
export function openImportedCodeKey(opened: Buffer): ImportedCodeKey {
  const [messagePrefix, key]: unknown[] = JSON.parse(opened.toString("utf8"));
  if (typeof messagePrefix !== "string" || typeof key !== "string")
    throw new Error("An imported code key is malformed.");
  return { key: Buffer.from(key, "base64"), messagePrefix };
}

/** @returns the ten hex digits without spaces, in lower case; undefined: the text cannot be a code. */
export function readImportedCode(typed: string): string | undefined {
  const code = latinDigits(typed).replace(/\s/g, "").toLowerCase();
  return /^[0-9a-f]{10}$/.test(code) ? code : undefined;
}

/** As the other installation stores it. @param code as `readImportedCode` returns it. */
export function importedCodeDigest({ key, messagePrefix }: ImportedCodeKey, code: string): Buffer {
  return createHmac("sha256", key).update(`${messagePrefix}${code}`, "utf8").digest();
}

/** As this server stores it: somebody who knows the other installation's key cannot compute it. */
export function keptCodeDigest(access: AccessKeys, userId: number, importedDigest: Buffer): Buffer {
  return access.digest("imported_backup_code", userId, importedDigest);
}
