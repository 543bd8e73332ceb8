import type { Random } from "../base/random.ts";
import { readableAlphabet } from "./readable-encoding.ts";

const opaqueTokenBytes = 32;

/** Five bits per character, for text that people copy by hand: no two characters look alike. */
export function makeReadableCharacters(random: Random, count: number): string {
  let letters = "";
  for (const byte of random.bytes(count)) letters += readableAlphabet.charAt(byte & 31);
  return letters;
}

/** 256 bits as 43 characters of base64url after `prefix`. */
export function makeOpaqueToken(random: Random, prefix = ""): string {
  return prefix + random.bytes(opaqueTokenBytes).toString("base64url");
}
