import { accepted, refused, type ValueType } from "./value-type.ts";

const titleCharactersMax = 60;

/** On one line, and nothing that hides or turns what stands beside it. */
export const shortTitle: ValueType<string> = {
  allowed: `a name of at most ${titleCharactersMax} characters`,
  parse: (text) =>
    [...text].length > titleCharactersMax || /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? refused : accepted(text),
};

/** The languages of the pages, by the first part of their tags. */
const spokenLanguages = ["ar", "de", "en", "es", "fr", "ja", "pt"];

/** Other servers speak languages that this one does not: their tags are taken, and `isSpoken` tells. */
export const languageTag: ValueType<string> = {
  allowed: "a language tag such as de or pt-BR",
  parse: (text) =>
    /^:?[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$/.test(text) ? accepted(text.replace(/^:/, "")) : refused,
};

export function isSpoken(tag: string): boolean {
  return spokenLanguages.includes(tag.toLowerCase().split(/[-_]/)[0] ?? "");
}
