import { passphraseWords } from "./passphrase-words.ts";

/** Returns an unpredictable integer from 0 to `limit` - 1, each equally likely. `limit` is at most 2^32. */
export type RandomBelow = (limit: number) => number;

const range = 2 ** 32;

/**
 * Numbers in the last, incomplete run of `limit` are drawn again: a plain remainder would favour small numbers.
 * @param fill fills an array with random numbers, e.g. `crypto.getRandomValues`.
 */
export function randomBelowFrom(fill: (numbers: Uint32Array<ArrayBuffer>) => void): RandomBelow {
  const drawn = new Uint32Array(1);
  return (limit) => {
    const usable = range - (range % limit);
    for (;;) {
      fill(drawn);
      const [number = range] = drawn;
      if (number < usable) return number % limit;
    }
  };
}

export interface Suggestion {
  readonly text: string;
  /** Entropy, rounded down. */
  readonly bits: number;
}

// Without characters that look alike: 0 O o, 1 I l.
const lowerCase = "abcdefghijkmnpqrstuvwxyz";
const upperCase = "ABCDEFGHJKLMNPQRSTUVWXYZ";
const digits = "23456789";
const symbols = "!#%*+-.:=?@_";

/** Draws characters from the whole alphabet until every class occurs, as password rules require. `length` is at least 4. */
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

const digitsCount = 10;

export interface SyllableChoices {
  readonly syllables: number;
  /** Bounds of one syllable, both included. */
  readonly lettersMin: number;
  readonly lettersMax: number;
  readonly consonants: string;
  readonly vowels: string;
  readonly withCapitals: boolean;
  readonly withDigits: boolean;
  /** "": none. */
  readonly separators: string;
}

/**
 * Syllables of consonants and vowels in turn, each of a random length, as Password Pusher generates them. The bits are the
 * entropy of the text: the mean over all lengths, because a short syllable is easier to guess than a long one.
 */
export function suggestSyllables(choices: SyllableChoices, randomBelow: RandomBelow): Suggestion {
  const { syllables, lettersMin, lettersMax, withCapitals, withDigits } = choices;
  const alphabets = [[...choices.consonants], [...choices.vowels]];
  const separators = [...choices.separators];
  const letterOf = (position: number) => alphabets[position % 2] ?? [];
  const draw = (from: readonly string[]) => from[randomBelow(from.length)] ?? "";
  const lengths = lettersMax - lettersMin + 1;

  let text = "";
  for (let syllable = 0; syllable < syllables; syllable += 1) {
    if (syllable > 0 && separators.length > 0) text += draw(separators);
    const length = lettersMin + randomBelow(lengths);
    for (let position = 0; position < length; position += 1) {
      const letter = draw(letterOf(position));
      text += withCapitals && position === 0 ? letter.toUpperCase() : letter;
    }
    if (withDigits) text += String(randomBelow(digitsCount));
  }

  let letterBits = 0;
  for (let position = 0; position < lettersMax; position += 1) {
    const lengthsWithIt = Math.min(lengths, lettersMax - position);
    letterBits += (lengthsWithIt / lengths) * Math.log2(letterOf(position).length);
  }
  // Where nothing marks the end of a syllable, two choices of lengths can result in the same text.
  const lengthsAreVisible = syllables === 1 || withCapitals || withDigits || separators.length > 0;
  const lengthBits = lengthsAreVisible ? Math.log2(lengths) : 0;
  const separatorBits = separators.length > 0 ? Math.log2(separators.length) : 0;
  const syllableBits = lengthBits + letterBits + (withDigits ? Math.log2(digitsCount) : 0);
  return { text, bits: Math.floor(syllables * syllableBits + (syllables - 1) * separatorBits) };
}

const endingsCount = 100;

/** Words joined by hyphens; embellished for rules that require capitals and a number. */
export function suggestWords(count: number, embellish: boolean, randomBelow: RandomBelow): Suggestion {
  const words: string[] = [];
  for (let i = 0; i < count; i += 1) words.push(passphraseWords[randomBelow(passphraseWords.length)] ?? "");
  const bits = count * Math.log2(passphraseWords.length);
  if (!embellish) return { text: words.join("-"), bits: Math.floor(bits) };
  const capitals = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const ending = String(randomBelow(endingsCount)).padStart(2, "0");
  return { text: [...capitals, ending].join("-"), bits: Math.floor(bits + Math.log2(endingsCount)) };
}
