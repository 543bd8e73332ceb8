import { describe, expect, it } from "vitest";
import { countCharacters } from "./fields.ts";
import { passphraseWords } from "./passphrase-words.ts";
import {
  type RandomBelow,
  randomBelowFrom,
  type SyllableChoices,
  suggestCharacters,
  suggestSyllables,
  suggestWords,
} from "./suggest.ts";

/** Returns the given numbers in order. */
function drawing(...numbers: number[]) {
  const left = [...numbers];
  const randomBelow = randomBelowFrom((target) => {
    target[0] = left.shift() ?? Number.NaN;
  });
  return { randomBelow, left };
}

describe("randomBelow", () => {
  it("draws again where a remainder would favour small numbers", () => {
    const top = 2 ** 32 - 1;
    const { randomBelow, left } = drawing(top, top - 6, 7);
    expect(randomBelow(10)).toBe(9);
    expect(left).toEqual([7]);
  });

  it("takes every number when the limit divides the range", () => {
    expect(drawing(2 ** 32 - 1).randomBelow(1_024)).toBe(1_023);
  });
});

describe("the words of passphrases", () => {
  it("are 1024 different short words in lower case", () => {
    expect(passphraseWords).toHaveLength(1_024);
    expect(new Set(passphraseWords).size).toBe(1_024);
    expect(passphraseWords.filter((word) => !/^[a-z]{3,8}$/.test(word))).toEqual([]);
  });
});

describe("suggestWords", () => {
  it("adds ten bits with each word", () => {
    const { randomBelow } = drawing(0, 1_023, 1_024);
    const [first, last] = [passphraseWords[0], passphraseWords[1_023]];
    expect(suggestWords(3, false, randomBelow)).toEqual({ text: `${first}-${last}-${first}`, bits: 30 });
  });

  it("adds capitals and a number on request", () => {
    const { text, bits } = suggestWords(2, true, drawing(0, 1, 7).randomBelow);
    expect(text).toMatch(/^[A-Z][a-z]+-[A-Z][a-z]+-07$/);
    expect(bits).toBe(26);
  });
});

describe("suggestCharacters", () => {
  it("draws again until every class of characters occurs", () => {
    const allLower = [0, 0, 0, 0];
    const mixed = [0, 24, 48, 56];
    const { randomBelow, left } = drawing(...allLower, ...mixed);
    expect(suggestCharacters(4, true, randomBelow).text).toBe("aA2!");
    expect(left).toEqual([]);
  });

  it("leaves out characters that look alike", () => {
    let seed = 1;
    const randomBelow = (limit: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % limit;
    };
    const { text, bits } = suggestCharacters(5_000, true, randomBelow);
    expect(text).not.toMatch(/[0O1Il|o]/);
    expect(bits).toBe(Math.floor(5_000 * Math.log2(new Set(text).size)));
  });
});

const byDefault: SyllableChoices = {
  syllables: 3,
  lettersMin: 1,
  lettersMax: 3,
  consonants: "bcdfghklmnprstvz",
  vowels: "aeiouy",
  withCapitals: true,
  withDigits: true,
  separators: "-_=",
};

/** The entropy in bits of what `generate` returns, from all sequences of numbers that it can draw. */
function entropyOf(generate: (randomBelow: RandomBelow) => string): number {
  const probabilities = new Map<string, number>();
  let numbers: readonly number[] = [];
  for (;;) {
    const drawn = numbers;
    const limits: number[] = [];
    const numberAt = (at: number) => drawn[at] ?? 0;
    const text = generate((limit) => numberAt(limits.push(limit) - 1));
    const probability = limits.reduce((product, limit) => product / limit, 1);
    probabilities.set(text, (probabilities.get(text) ?? 0) + probability);
    const last = limits.findLastIndex((limit, at) => numberAt(at) + 1 < limit);
    if (last < 0) break;
    numbers = [...limits.slice(0, last).map((_, at) => numberAt(at)), numberAt(last) + 1];
  }
  return [...probabilities.values()].reduce((bits, probability) => bits - probability * Math.log2(probability), 0);
}

describe("suggestSyllables", () => {
  it("alternates consonants and vowels, each syllable with a capital and a digit, with separators between them", () => {
    const { randomBelow, left } = drawing(0, 0, 7, 1, 1, 2, 4, 8, 2, 2, 15, 5, 1, 9);
    expect(suggestSyllables(byDefault, randomBelow)).toEqual({ text: "B7_Du8=Zyc9", bits: 39 });
    expect(left).toEqual([]);
  });

  it("generates plain letters of a fixed length if nothing else is chosen", () => {
    const plain = {
      ...byDefault,
      lettersMin: 2,
      lettersMax: 2,
      withCapitals: false,
      withDigits: false,
      separators: "",
    };
    const { randomBelow } = drawing(0, 0, 0, 0, 1, 1, 0, 2, 2);
    expect(suggestSyllables(plain, randomBelow)).toEqual({ text: "bacedi", bits: 19 });
  });

  it("takes a letter or a separator of two UTF-16 units as one", () => {
    const choices = { ...byDefault, syllables: 2, lettersMax: 1, consonants: "𐐨", withDigits: false, separators: "😀" };
    expect(suggestSyllables(choices, () => 0)).toEqual({ text: "𐐀😀𐐀", bits: 0 });
  });

  const few = { ...byDefault, syllables: 2, lettersMax: 2, consonants: "bcd", vowels: "ae", separators: "-_" };
  it.each([
    ["everything", {}],
    ["capitals only", { withDigits: false, separators: "" }],
    ["digits only", { withCapitals: false, separators: "" }],
    ["separators only", { withCapitals: false, withDigits: false }],
    ["one plain syllable", { syllables: 1, lettersMax: 6, withCapitals: false, withDigits: false, separators: "" }],
  ])("shows the entropy of the text, rounded down: %s", (_, more) => {
    const choices = { ...few, ...more };
    const entropy = entropyOf((randomBelow) => suggestSyllables(choices, randomBelow).text);
    expect(suggestSyllables(choices, () => 0).bits).toBe(Math.floor(entropy));
  });

  it("shows less than the entropy where the ends of syllables are not marked", () => {
    const choices = { ...few, syllables: 3, lettersMax: 3, withCapitals: false, withDigits: false, separators: "" };
    const entropy = entropyOf((randomBelow) => suggestSyllables(choices, randomBelow).text);
    const withLengths = entropyOf((randomBelow) => suggestSyllables({ ...choices, separators: "-" }, randomBelow).text);
    const { bits } = suggestSyllables(choices, () => 0);
    expect(bits).toBe(8);
    expect(entropy).toBeGreaterThan(bits);
    expect(entropy).toBeLessThan(withLengths);
  });
});

describe("countCharacters", () => {
  it("counts code points, as the server does", () => {
    expect(countCharacters("aü😀")).toBe(3);
  });
});
