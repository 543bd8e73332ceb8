import { createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/** The key that the source's own documentation prints: it is used where nobody set one. */
export const publishedDefaultKey = "749b1022e1cb83fb04f3022eacaf3bfef60c6d47f83e6fb41f534a05fc69929f";

/** What a sealed column is told apart by; the column's name has its `_ciphertext`. */
export interface SealedPlace {
  readonly table: "pushes" | "users" | "notify_by_emails";
  readonly column: string;
}

export type Opening =
  | { readonly outcome: "opened"; readonly text: string; readonly underDefaultKey: boolean }
  /** No key fits, or what it opens to is no text. */
  | { readonly outcome: "unreadable" };

/** Opens values that the Ruby library Lockbox has sealed. */
export interface Lockbox {
  /** NULL and the empty string are never sealed: ask for what is neither. */
  open(place: SealedPlace, value: string): Opening;
}

const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const infoPrefix = Buffer.alloc(32, 0xb4);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Lockbox's format: base64 of nonce (12 bytes), AES-256-GCM ciphertext, tag (16). The key is HKDF-SHA384 of the master key,
 * salted with the table's name, for 32 bytes of 0xB4 and the column's name.
 * @param masterKeys 64 hex digits each, in the order in which they are tried; the published default key comes last if it
 * is not among them. For each value anew: an edit after a rotation seals only what it changed.
 */
export function createLockbox(masterKeys: readonly string[]): Lockbox {
  const tried = [...new Set([...masterKeys.map((key) => key.toLowerCase()), publishedDefaultKey])];
  const keyrings = new Map<string, readonly KeyObject[]>();

  function keysFor({ table, column }: SealedPlace): readonly KeyObject[] {
    const place = `${table}.${column}`;
    const known = keyrings.get(place);
    if (known !== undefined) return known;
    const keys = tried.map((masterKey) => createSecretKey(deriveColumnKey(masterKey, { table, column })));
    keyrings.set(place, keys);
    return keys;
  }

  return {
    open(place, value) {
      const sealed = Buffer.from(value, "base64");
      if (sealed.length < nonceBytes + tagBytes) return { outcome: "unreadable" };
      for (const [index, key] of keysFor(place).entries()) {
        const plaintext = decrypt(key, sealed);
        if (plaintext === undefined) continue;
        const text = decoded(plaintext);
        if (text === undefined) return { outcome: "unreadable" };
        return { outcome: "opened", text, underDefaultKey: tried[index] === publishedDefaultKey };
      }
      return { outcome: "unreadable" };
    },
  };
}

/** @param masterKey 64 hex digits. @returns 32 bytes. */
export function deriveColumnKey(masterKey: string, { table, column }: SealedPlace): Buffer {
  const info = Buffer.concat([infoPrefix, Buffer.from(column, "utf8")]);
  return Buffer.from(hkdfSync("sha384", Buffer.from(masterKey, "hex"), Buffer.from(table, "utf8"), info, keyBytes));
}

/** @returns undefined when the tag does not match. */
function decrypt(key: KeyObject, sealed: Buffer): Buffer | undefined {
  const tagStart = sealed.length - tagBytes;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, nonceBytes));
  decipher.setAuthTag(sealed.subarray(tagStart));
  const plaintext = decipher.update(sealed.subarray(nonceBytes, tagStart));
  try {
    decipher.final();
  } catch {
    // The only error that final throws is a wrong tag: the expected result of a wrong key.
    return undefined;
  }
  return plaintext;
}

/** Exactly: a byte order mark stays, and what is not UTF-8 is not made up. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
