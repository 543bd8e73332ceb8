import { findMessages, languages } from "../../i18n/i18n.ts";
import { optionalSetting, type ParsedGroup, type SettingReport } from "../setting.ts";
import { accepted, rejected, type ValueType } from "../value-types.ts";

const titleCharactersMax = 60;

/** On one line, without characters that hide or reverse the text next to it. */
const shortTitle: ValueType<string> = {
  allowed: `a name of at most ${titleCharactersMax} characters`,
  parse: (text) =>
    [...text].length > titleCharactersMax || /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? rejected : accepted(text),
};

/** Password Pusher supports languages that this server does not: their tags are valid, and only cause a warning. */
const languageTag: ValueType<string> = {
  allowed: "a language tag such as de or pt-BR",
  parse: (text) =>
    /^:?[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$/.test(text) ? accepted(text.replace(/^:/, "")) : rejected,
};

export const brandingSettings = {
  title: "Name and language",
  intro: "Logo and style sheet, and a name that replaces this one, are set at `/admin/look`.",
  settings: {
    title: optionalSetting({
      env: "PWP__BRAND__TITLE",
      doc: "The name of this installation on its pages.",
      type: shortTitle,
      unset: "Sealpush",
    }),
    defaultLocale: optionalSetting({
      env: "PWP__DEFAULT_LOCALE",
      doc: `The language of pages and emails for people whose address, account and browser do not select one of the supported languages: ${languages.map(({ locale }) => locale.tag).join(", ")}.`,
      type: languageTag,
      unset: "en",
    }),
  },
};

export function brandingConfig({ title, defaultLocale }: ParsedGroup<typeof brandingSettings>, report: SettingReport) {
  if (defaultLocale.value !== undefined && findMessages(defaultLocale.value) === undefined) {
    report.warn(`${defaultLocale.env} names a language that is not supported: English is used instead.`);
  }
  return {
    /** The name of the installation until an administrator sets another; undefined: the product's name. */
    brandTitle: title.value,
    /** A language tag, possibly of a language that is not supported; undefined: English. */
    defaultLocale: defaultLocale.value,
  };
}
