import { passphraseWords } from "./passphrase-words.ts";
import type { RandomBelow } from "./random-below.ts";

export interface Suggestion {
  readonly text: string;
  /** Entropy, rounded down. */
  readonly bits: number;
}

// Without the characters that people take for one another: 0 O o, 1 I l.
const lowerCase = "abcdefghijkmnpqrstuvwxyz";
const upperCase = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const digits = "23456789";
const symbols = "!#%*+-.:=?@_";

/** Characters drawn from the whole alphabet until each class is there, as password rules ask. `length` is at least 4. */
export function suggestCharacters(length: number, withSymbols: boolean, randomBelow: RandomBelow): Suggestion {
  const classes = withSymbols ? [lowerCase, upperCase, digits, symbols] : [lowerCase, upperCase, digits];
  const alphabet = classes.join("");
  for (;;) {
    let text = "";
    for (let i = 0; i < length; i += 1) text += alphabet.charAt(randomBelow(alphabet.length));
    if (classes.every((members) => [...text].some((character) => members.includes(character)))) {
      return { text, bits: Math.floor(length * Math.log2(alphabet.length)) };
    }
  }
}

const endingsCount = 100;

/** Messages with hyphens between them; embellished for rules that ask for capitals and a number. */
export function suggestWords(count: number, embellish: boolean, randomBelow: RandomBelow): Suggestion {
  const words: string[] = [];
  for (let i = 0; i < count; i += 1) words.push(passphraseWords[randomBelow(passphraseWords.length)] ?? "");
  const bits = count * Math.log2(passphraseWords.length);
  if (!embellish) return { text: words.join("-"), bits: Math.floor(bits) };
  const capitals = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const ending = String(randomBelow(endingsCount)).padStart(2, "0");
  return { text: [...capitals, ending].join("-"), bits: Math.floor(bits + Math.log2(endingsCount)) };
}
