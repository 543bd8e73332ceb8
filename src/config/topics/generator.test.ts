import { describe, expect, it } from "vitest";
import { loadValid, mistakesOf } from "../../../test/support/settings.ts";

const byDefault = {
  startsWithSyllables: false,
  syllables: 3,
  syllableLetters: { min: 1, max: 3 },
  consonants: "bcdfghklmnprstvz",
  vowels: "aeiouy",
  capitals: true,
  digits: true,
  separated: true,
  separators: "-_=",
};

describe("the settings of the password generator", () => {
  it("have Password Pusher's defaults, without which it starts with random characters", () => {
    expect(loadValid({}).config.generator).toEqual(byDefault);
  });

  it.each([
    ["SYLLABLES_COUNT", "64", { syllables: 64 }],
    ["MIN_SYLLABLE_LENGTH", "3", { syllableLetters: { min: 3, max: 3 } }],
    ["MAX_SYLLABLE_LENGTH", "32", { syllableLetters: { min: 1, max: 32 } }],
    ["CONSONANTS", "бвг", { consonants: "бвг" }],
    ["VOWELS", "a", { vowels: "a" }],
    ["TITLE_CASED", "false", { capitals: false }],
    ["HAS_NUMBERS", "false", { digits: false }],
    ["USE_SEPARATORS", "false", { separated: false }],
    ["SEPARATORS", ".+😀", { separators: ".+😀" }],
  ])("PWP__GEN__%s=%s is honoured, and the generator starts with syllables", (name, value, expected) => {
    const { config, warnings, unused } = loadValid({ [`PWP__GEN__${name}`]: value });
    expect(config.generator).toEqual({ ...byDefault, startsWithSyllables: true, ...expected });
    expect([warnings, unused]).toEqual([[], []]);
  });

  it("start with syllables also where a setting has its default", () => {
    expect(loadValid({ PWP__GEN__VOWELS: "aeiouy" }).config.generator).toEqual({
      ...byDefault,
      startsWithSyllables: true,
    });
  });

  it.each([
    ["SYLLABLES_COUNT", ["0", "65", "-1", "three"]],
    ["MIN_SYLLABLE_LENGTH", ["0", "33"]],
    ["MAX_SYLLABLE_LENGTH", ["0", "33"]],
    ["CONSONANTS", ["", " ", "bb", "b c", "b,c", "bC", "b1", "ß", "ı", "ĸ", "b".repeat(101)]],
    ["VOWELS", ["", "aea", "aE", "a-"]],
    ["TITLE_CASED", ["", "False", "1"]],
    ["HAS_NUMBERS", ["", "no"]],
    ["USE_SEPARATORS", ["", "TRUE"]],
    ["SEPARATORS", ["", "--", "- _", "-a", "-1", "-\u0301", "-\u202e"]],
  ])("PWP__GEN__%s is refused by name with %j", (name, values) => {
    for (const value of values) {
      const mistakes = mistakesOf({ [`PWP__GEN__${name}`]: value });
      expect(mistakes, value).toEqual([expect.stringMatching(new RegExp(`^PWP__GEN__${name} is `))]);
    }
  });

  it("are refused if a syllable's shortest length is above its longest", () => {
    const sentence = "PWP__GEN__MIN_SYLLABLE_LENGTH is 4 and PWP__GEN__MAX_SYLLABLE_LENGTH is 3, but the first must";
    expect(mistakesOf({ PWP__GEN__MIN_SYLLABLE_LENGTH: "4" })).toEqual([expect.stringContaining(sentence)]);
  });
});
