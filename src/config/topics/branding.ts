import { isVisibleLine } from "../../base/one-line.ts";
import { en, findMessages, languages, type Messages } from "../../i18n/i18n.ts";
import {
  optionalSetting,
  type ParsedGroup,
  type ParsedSetting,
  type SettingReport,
  setting,
  switchSetting,
  valuesOf,
} from "../setting.ts";
import { accepted, oneOf, rejected, textThat, type ValueType } from "../value-types.ts";

/** On one line, without characters that hide or reverse the text next to it. */
function oneLine(noun: string, charactersMax: number) {
  const allowed = `${noun} of at most ${charactersMax} characters, on one line`;
  return textThat(allowed, (text) => isVisibleLine(text) && [...text].length <= charactersMax);
}

const aboutCharactersMax = 20_000;

const markdown = textThat(
  `a text in Markdown of at most ${aboutCharactersMax} characters`,
  (text) => [...text].length <= aboutCharactersMax,
);

/** `href` belongs in a page, `origin` in the content security policy of pages. */
interface ImageAddress {
  readonly href: string;
  /** For the content security policy: the address without its query, or a path of this server. */
  readonly source: string;
}

const imageAddressCharactersMax = 2_000;

/** A file name alone is a file of Password Pusher's image: it is valid, and only causes a warning. */
const imageAddress: ValueType<ImageAddress | "file_name"> = {
  allowed: `an https address, or a path that begins with a slash, of at most ${imageAddressCharactersMax} characters`,
  parse(text) {
    if (text.length > imageAddressCharactersMax || /[\s\p{C}\\]/u.test(text)) return rejected;
    if (/^[\w.-]+$/.test(text)) return accepted("file_name");
    const url = /^(?:https:\/\/|\/(?!\/))/i.test(text) ? URL.parse(text, "https://path.invalid") : null;
    // Other characters in a host would be syntax in the policy.
    if (url === null || url.username + url.password !== "" || !/^[a-z0-9.-]+$/.test(url.hostname)) return rejected;
    const isPath = text.startsWith("/");
    // These two are syntax in the policy.
    const path = url.pathname.replaceAll(";", "%3B").replaceAll(",", "%2C");
    return accepted({
      href: isPath ? url.pathname + url.search : url.href,
      source: isPath ? path : `${url.origin}${path}`,
    });
  },
};

/** Password Pusher supports languages that this server does not: their tags are valid, and only cause a warning. */
const languageTag: ValueType<string> = {
  allowed: "a language tag such as de or pt-BR",
  parse: (text) =>
    /^:?[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$/.test(text) ? accepted(text.replace(/^:/, "")) : rejected,
};

const tagsMax = 100;

const languageTags: ValueType<readonly string[]> = {
  allowed: `up to ${tagsMax} language tags, separated by commas`,
  parse(text) {
    const tags = text.split(",").map((tag) => languageTag.parse(tag.trim()));
    const values = tags.flatMap((tag) => (tag.ok ? [tag.value] : []));
    return values.length < tags.length || tags.length > tagsMax ? rejected : accepted(values);
  },
};

const supportedTags = languages.map(({ locale }) => locale.tag).join(", ");

export const brandingSettings = {
  title: "Appearance and language",
  intro: "A style sheet, an accent colour, and a name and a logo that replace these, are set at `/admin/look`.",
  settings: {
    brandTitle: optionalSetting({
      env: "PWP__BRAND__TITLE",
      doc: "The name of this installation on its pages.",
      type: oneLine("a name", 60),
      unset: "Sealpush",
    }),
    tagline: optionalSetting({
      env: "PWP__BRAND__TAGLINE",
      doc: "A few words below the name, at the top of every page.",
      type: oneLine("a text", 120),
      unset: "none",
    }),
    disclaimer: optionalSetting({
      env: "PWP__BRAND__DISCLAIMER",
      doc: "A legal notice at the end of every page.",
      type: oneLine("a text", 2_000),
      unset: "none",
    }),
    about: optionalSetting({
      env: "PWP__BRAND__ABOUT",
      doc: "The page `/about`, to which every page links: who runs this installation, for whom, and whom to ask. Markdown (CommonMark), usually as a file: headings, lists, quotations, code, and links to https, http and mailto addresses and to paths of this server. HTML is shown as text, and there are no pictures. The page is the same in every language.",
      type: markdown,
      hidden: "when_rejected",
      unset: "a few sentences about the service, in the language of the page",
    }),
    lightLogo: optionalSetting({
      env: "PWP__BRAND__LIGHT_LOGO",
      doc: "The address of a logo for pages in light colours; in dark ones too, unless these have their own. Either an https address, whose server then sees the network address of everybody who opens a page, recipients included, or a path that the proxy in front of this server answers.",
      type: imageAddress,
      unset: "none",
    }),
    darkLogo: optionalSetting({
      env: "PWP__BRAND__DARK_LOGO",
      doc: "The same for pages in dark colours.",
      type: imageAddress,
      unset: "none",
    }),
    showsFooterMenu: switchSetting({
      env: "PWP__BRAND__SHOW_FOOTER_MENU",
      doc: "Whether the end of every page links to the API documentation and to the page in other languages.",
      default: "true",
    }),
    showsVersion: switchSetting({
      env: "PWP__SHOW_VERSION",
      doc: "Whether the end of every page shows the version of this program. In Password Pusher the default is true.",
      default: "false",
    }),
    themeMode: setting({
      env: "PWP__THEME_MODE",
      doc: "The colours of pages: `light`, `dark`, or `auto`, which follows the browser. What a person chooses at the end of a page has precedence.",
      type: oneOf({ auto: "auto", light: "light", dark: "dark" }),
      default: "auto",
    }),
    /** Possibly of a language that is not supported. */
    defaultLocale: optionalSetting({
      env: "PWP__DEFAULT_LOCALE",
      doc: `The language of pages and emails for people whose address, account and browser do not select one of the supported languages: ${supportedTags}.`,
      type: languageTag,
      unset: "en",
    }),
    enabledLanguages: optionalSetting({
      env: "PWP__ENABLED_LANGUAGE_CODES",
      doc: "The languages that people can choose and that their browsers can select. The default language is always one of them.",
      type: languageTags,
      unset: supportedTags,
    }),
  },
};

export function brandingConfig(settings: ParsedGroup<typeof brandingSettings>, report: SettingReport) {
  const {
    brandTitle,
    about,
    defaultLocale,
    lightLogo,
    darkLogo,
    enabledLanguages: _,
    ...appearance
  } = valuesOf(settings);
  const light = logoOf(settings.lightLogo, report);
  const dark = logoOf(settings.darkLogo, report);
  const sources = [light, dark].flatMap((logo) => logo?.source ?? []);
  if (defaultLocale !== undefined && findMessages(defaultLocale) === undefined) {
    report.warn(`${settings.defaultLocale.env} names a language that is not supported: English is used instead.`);
  }
  return {
    brandTitle,
    about,
    appearance: {
      ...appearance,
      /** Addresses of images, used while no logo is uploaded. */
      logo: { light: (light ?? dark)?.href, dark: (dark ?? light)?.href },
    },
    /** What pages load images from besides this server's assets and theme; see `ImageAddress`. */
    imageSources: [...new Set(sources)],
    /** In the order of the footer. */
    languages: enabledLanguages(settings, report),
    defaultLocale,
  };
}

function enabledLanguages(
  { defaultLocale, enabledLanguages: { env, value } }: ParsedGroup<typeof brandingSettings>,
  report: SettingReport,
): readonly Messages[] {
  if (value === undefined) return languages;
  const unsupported = value.filter((tag) => findMessages(tag) === undefined);
  if (unsupported.length > 0) {
    report.warn(`${env} names languages that are not supported, and are left out: ${unsupported.join(", ")}.`);
  }
  const byDefault = findMessages(defaultLocale.value) ?? en;
  const enabled = value.map((tag) => findMessages(tag));
  if (!enabled.includes(byDefault)) {
    const { name, tag } = byDefault.locale;
    report.warn(
      `${env} does not name ${name} (${tag}), which people can choose all the same: it is the default language.`,
    );
  }
  return languages.filter((messages) => messages === byDefault || enabled.includes(messages));
}

function logoOf({ env, value }: ParsedSetting<ImageAddress | "file_name" | undefined>, report: SettingReport) {
  if (value !== "file_name") return value;
  report.warn(
    `${env} names a file inside Password Pusher's image, which is not part of this server, so it has no effect: upload the logo at /admin/look, or write its https address.`,
  );
  return undefined;
}
