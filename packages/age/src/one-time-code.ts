import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { type OneTimeSeed, readOneTimeSeed } from "./one-time-seed.ts";

const hashes = { SHA1: sha1, SHA256: sha256, SHA512: sha512 } as const;

export interface OneTimeCode {
  readonly code: string;
  /** How long it is still valid, 1 to the period. */
  readonly secondsLeft: number;
  readonly period: number;
}

/**
 * The code of RFC 6238. It needs no `crypto.subtle`, which browsers offer only over HTTPS.
 * @param now milliseconds since the epoch. @returns undefined: the address names no seed.
 */
export function oneTimeCode(address: string, now: number): OneTimeCode | undefined {
  const seed = readOneTimeSeed(address);
  if (seed === undefined) return undefined;
  const seconds = Math.floor(now / 1_000);
  return {
    code: codeAt(seed, Math.floor(seconds / seed.period)),
    secondsLeft: seed.period - (seconds % seed.period),
    period: seed.period,
  };
}

/** HOTP, RFC 4226. */
function codeAt({ secret, algorithm, digits }: OneTimeSeed, counter: number): string {
  const message = new DataView(new ArrayBuffer(8));
  message.setBigUint64(0, BigInt(counter));
  const mac = hmac(hashes[algorithm], secret, new Uint8Array(message.buffer));
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = new DataView(mac.buffer, mac.byteOffset + offset, 4).getUint32(0) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}
