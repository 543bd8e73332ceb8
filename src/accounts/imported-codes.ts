import { digest } from "../crypto/digests.ts";
import { hmacSha256 } from "../crypto/hmac.ts";
import { latinDigits } from "./latin-digits.ts";

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
