import { describe, expect, it } from "vitest";
import { countCharacters } from "./fields.ts";
import { passphraseWords } from "./passphrase-words.ts";
import { randomBelowFrom, suggestCharacters, suggestWords } from "./suggest.ts";

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

describe("countCharacters", () => {
  it("counts code points, as the server does", () => {
    expect(countCharacters("aü😀")).toBe(3);
  });
});
