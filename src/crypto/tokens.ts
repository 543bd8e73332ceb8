import type { Random } from "../base/random.ts";

/** 32 emails, so that five bits of a random byte choose one without bias; none that reads like another (i, l, o, u). */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const urlTokenLength = 26;
const opaqueTokenBytes = 32;

/** 130 bits as 26 lower-case letters and digits. */
export function makeUrlToken(random: Random): string {
  return makeReadableCharacters(random, urlTokenLength);
}

/** Five bits a character, for what people copy by hand: no two characters that read alike. */
export function makeReadableCharacters(random: Random, count: number): string {
  let letters = "";
  for (const byte of random.bytes(count)) letters += alphabet.charAt(byte & 31);
  return letters;
}

/** 256 bits as 43 characters of base64url after `prefix`. */
export function makeOpaqueToken(random: Random, prefix = ""): string {
  return prefix + random.bytes(opaqueTokenBytes).toString("base64url");
}
