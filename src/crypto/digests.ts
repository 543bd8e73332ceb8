import { hash, timingSafeEqual } from "node:crypto";

/** SHA-256 of the UTF-8 of `text`, 32 bytes. Only for tokens of high entropy: a guessable value can be found by brute force. */
export function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Compares in a time that depends only on the lengths; false when the lengths differ. */
export function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
