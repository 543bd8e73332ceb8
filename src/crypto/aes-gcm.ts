import {
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type DecipherGCM,
  type KeyObject,
} from "node:crypto";

export const nonceBytes = 12;
export const tagBytes = 16;

const algorithm = "aes-256-gcm";

/**
 * A key for the functions below. With raw bytes, Node 24 spends 10 us per call on converting them, more than sealing a short
 * value takes.
 * @param bytes 32.
 */
export function aesKey(bytes: Uint8Array): KeyObject {
  return createSecretKey(bytes);
}

/** AES-256-GCM (NIST SP 800-38D). @returns ciphertext and tag separately. */
export function encrypt(key: KeyObject, nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array) {
  const cipher: CipherGCM = createCipheriv(algorithm, key, nonce);
  cipher.setAAD(associatedData);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return { ciphertext, tag: cipher.getAuthTag() };
}

/** @param sealed ciphertext followed by the tag. @returns undefined when the tag does not match. */
export function decrypt(
  key: KeyObject,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  sealed: Uint8Array,
): Buffer | undefined {
  const tagStart = sealed.length - tagBytes;
  if (tagStart < 0) return undefined;
  const decipher: DecipherGCM = createDecipheriv(algorithm, key, nonce);
  decipher.setAAD(associatedData);
  decipher.setAuthTag(sealed.subarray(tagStart));
  const plaintext = decipher.update(sealed.subarray(0, tagStart));
  try {
    decipher.final();
  } catch {
    // `final` throws only when the tag does not match, which is the expected result of a wrong key.
    return undefined;
  }
  return plaintext;
}
