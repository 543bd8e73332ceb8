import { hash, timingSafeEqual } from "node:crypto";
import { hmacSha256 } from "./hmac.ts";

/** HMAC-SHA256 of the UTF-8 of `text`, 32 bytes: a lookup value that is useless without the key. */
export function keyedDigest(key: Uint8Array, text: string): Buffer {
  return hmacSha256(key, Buffer.from(text, "utf8"));
}

/** SHA-256 of the UTF-8 of `text`, 32 bytes. Only for tokens of high entropy: a guessable value can be found by brute force. */
export function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Compares in a time that depends only on the lengths; false when the lengths differ. */
export function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
