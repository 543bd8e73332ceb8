import { hash, timingSafeEqual } from "node:crypto";
import { hmacSha256 } from "./hmac.ts";

/** HMAC-SHA256 of the UTF-8 of `text`, 32 bytes: a value to look up by, useless to whoever lacks the key. */
export function keyedDigest(key: Uint8Array, text: string): Buffer {
  return hmacSha256(key, Buffer.from(text, "utf8"));
}

/** SHA-256 of the UTF-8 of `text`, 32 bytes. Only for tokens of high entropy: anything guessable is found by search. */
export function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Compares in a time that depends on the lengths alone; false when they differ. */
export function equalDigests(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
