import type { Random } from "../base/random.ts";

/** 32 characters, so that five random bits choose one without bias. The letters i, l, o and u are left out as ambiguous. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const urlTokenLength = 26;
const opaqueTokenBytes = 32;

/** 130 bits as 26 lower-case letters and digits. */
export function makeUrlToken(random: Random): string {
  return makeReadableCharacters(random, urlTokenLength);
}

/** Five bits per character, for text that people copy by hand: no two characters look alike. */
export function makeReadableCharacters(random: Random, count: number): string {
  let letters = "";
  for (const byte of random.bytes(count)) letters += alphabet.charAt(byte & 31);
  return letters;
}

/** 256 bits as 43 characters of base64url after `prefix`. */
export function makeOpaqueToken(random: Random, prefix = ""): string {
  return prefix + random.bytes(opaqueTokenBytes).toString("base64url");
}
