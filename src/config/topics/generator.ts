import { type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import { accepted, rejected, type ValueType, wholeNumber } from "../value-types.ts";

const charactersMax = 100;
const syllableLettersMax = 32;

/** Each character is drawn with the same probability, so a repeated one is a mistake. */
function differentCharacters(kind: string, isMember: (character: string) => boolean): ValueType<string> {
  const allowed = `1 to ${charactersMax} different ${kind}, with nothing between them`;
  return {
    allowed,
    whenEmpty: `it must be ${allowed}; without the line, the default is used`,
    parse(text) {
      const characters = [...text];
      const isValid = characters.length <= charactersMax && characters.every(isMember);
      return isValid && new Set(characters).size === characters.length ? accepted(text) : rejected;
    },
  };
}

// Capitals, digits and separators mark where a syllable ends, so none of them may be mistaken for one of the others.
const letters = differentCharacters("lower-case letters that have a capital", (character) => {
  const capital = character.toUpperCase();
  return /^\p{Ll}$/u.test(character) && capital !== character && capital.toLowerCase() === character;
});
const symbols = differentCharacters("punctuation marks or symbols", (character) => /^[\p{P}\p{S}]$/u.test(character));

export const generatorSettings = {
  title: "Password generator",
  intro:
    "For pronounceable passwords, which consist of syllables. In the form, users can change how many syllables there are, and switch capitals, digits and separators on and off. If one of these settings is set, the generator starts with pronounceable passwords, otherwise with random characters.",
  settings: {
    syllables: setting({
      env: "PWP__GEN__SYLLABLES_COUNT",
      doc: "How many syllables a password has.",
      type: wholeNumber(1, 64),
      default: "3",
    }),
    syllableLettersMin: setting({
      env: "PWP__GEN__MIN_SYLLABLE_LENGTH",
      doc: "The smallest number of letters in a syllable.",
      type: wholeNumber(1, syllableLettersMax),
      default: "1",
    }),
    syllableLettersMax: setting({
      env: "PWP__GEN__MAX_SYLLABLE_LENGTH",
      doc: "The greatest number of letters in a syllable.",
      type: wholeNumber(1, syllableLettersMax),
      default: "3",
    }),
    consonants: setting({
      env: "PWP__GEN__CONSONANTS",
      doc: "The letters that a syllable starts with. Consonants and vowels alternate.",
      type: letters,
      default: "bcdfghklmnprstvz",
    }),
    vowels: setting({
      env: "PWP__GEN__VOWELS",
      doc: "The letters that follow a consonant.",
      type: letters,
      default: "aeiouy",
    }),
    capitals: switchSetting({
      env: "PWP__GEN__TITLE_CASED",
      doc: "Whether each syllable starts with a capital, unless the user changes it.",
      default: "true",
    }),
    digits: switchSetting({
      env: "PWP__GEN__HAS_NUMBERS",
      doc: "Whether each syllable ends with a digit, unless the user changes it.",
      default: "true",
    }),
    separated: switchSetting({
      env: "PWP__GEN__USE_SEPARATORS",
      doc: "Whether there is a separator between two syllables, unless the user changes it.",
      default: "true",
    }),
    separators: setting({
      env: "PWP__GEN__SEPARATORS",
      doc: "The characters that can separate syllables; each separator is chosen at random.",
      type: symbols,
      default: "-_=",
    }),
  },
};

export function generatorConfig(parsed: ParsedGroup<typeof generatorSettings>, report: SettingReport) {
  const { syllableLettersMin: min, syllableLettersMax: max, ...rows } = parsed;
  if (min.value > max.value) {
    report.mistake(
      `${min.env} is ${min.value} and ${max.env} is ${max.value}, but the first must not be greater than the second.`,
      min.env,
      max.env,
    );
  }
  return {
    ...valuesOf(rows),
    /** The generator starts with pronounceable passwords, because the operator configured them. */
    startsWithSyllables: Object.values(parsed).some(({ given }) => given),
    syllableLetters: { min: min.value, max: max.value },
  };
}
