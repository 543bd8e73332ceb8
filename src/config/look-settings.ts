import { languageTag, shortTitle } from "./look-types.ts";
import { optionalSetting } from "./setting.ts";

/** The part of the settings table about what pages call themselves, and in which language. */
export const lookSettings = {
  look: {
    title: "Name and language",
    intro: "Logo and style sheet, and a name that takes the place of this one, are set at `/admin/look`.",
    settings: {
      title: optionalSetting({
        env: "PWP__BRAND__TITLE",
        doc: "What the pages call this installation.",
        type: shortTitle,
        unset: "Sealpush",
      }),
      defaultLocale: optionalSetting({
        env: "PWP__DEFAULT_LOCALE",
        doc: "The language of pages and mails for people whose address, account and browser name none that is spoken here: ar, de, en, es, fr, ja, pt-BR.",
        type: languageTag,
        unset: "en",
      }),
    },
  },
};
