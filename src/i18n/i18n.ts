import english from "./messages/en.json" with { type: "json" };
import { createMessages, type LanguageFacts, type Messages } from "./messages.ts";

export type { Messages } from "./messages.ts";

async function language(facts: LanguageFacts, file: Promise<{ default: typeof english }>): Promise<Messages> {
  return createMessages(facts, (await file).default);
}

export const en = createMessages({ tag: "en", name: "English", dir: "ltr" }, english);

/** Every language of the pages, in the order of the footer. Another language needs its message file and its line here. */
export const languages: readonly Messages[] = [
  en,
  ...(await Promise.all([
    language({ tag: "de", name: "Deutsch", dir: "ltr" }, import("./messages/de.json", { with: { type: "json" } })),
    language({ tag: "fr", name: "Français", dir: "ltr" }, import("./messages/fr.json", { with: { type: "json" } })),
    language({ tag: "es", name: "Español", dir: "ltr" }, import("./messages/es.json", { with: { type: "json" } })),
    language(
      { tag: "pt-BR", name: "Português (Brasil)", dir: "ltr" },
      import("./messages/pt-BR.json", { with: { type: "json" } }),
    ),
    language({ tag: "ja", name: "日本語", dir: "ltr" }, import("./messages/ja.json", { with: { type: "json" } })),
    language(
      { tag: "ar", name: "العربية", dir: "rtl", formatTag: "ar-u-nu-latn" },
      import("./messages/ar.json", { with: { type: "json" } }),
    ),
  ])),
];

const byTag = new Map(languages.map((messages) => [messages.locale.tag.toLowerCase(), messages]));
const byPrimaryTag = new Map(
  languages.map((messages) => [messages.locale.tag.toLowerCase().split("-")[0] ?? "", messages]).reverse() as [
    string,
    Messages,
  ][],
);

// A browser sends a handful of languages; what lies beyond this is not a person's wish.
const headerCharactersMax = 1_000;
const tagCharactersMax = 35;

/** @returns the language of a tag as people write it (`pt-br`, `pt_BR`, `de-AT`), or undefined when we do not speak it. */
export function findMessages(tag: string | undefined): Messages | undefined {
  if (tag === undefined || tag.length > tagCharactersMax) return undefined;
  const normal = tag.trim().toLowerCase().replace("_", "-");
  return byTag.get(normal) ?? byPrimaryTag.get(normal.split("-")[0] ?? "");
}

export interface LocaleWishes {
  /** `?locale=`: this address asks for it. */
  readonly query: string | undefined;
  /** What somebody signed in has chosen for the account. */
  readonly account: string | undefined;
  readonly acceptLanguage: string | undefined;
  /** Of the installation, for people who wish for nothing that we speak; undefined: English. */
  readonly settled?: string | undefined;
}

/**
 * The language of an answer: the one asked for by `?locale=`, else the account's, else the best of Accept-Language
 * (RFC 9110, section 12.5.4), else the installation's, else English. `asked` says that the query decided, so that links on the page go on asking.
 */
export function chooseLocale({ query, account, acceptLanguage, settled }: LocaleWishes): {
  readonly messages: Messages;
  readonly asked: boolean;
} {
  const wanted = findMessages(query);
  if (wanted !== undefined) return { messages: wanted, asked: true };
  const chosen = findMessages(account);
  if (chosen !== undefined) return { messages: chosen, asked: false };
  for (const tag of preferredTags(acceptLanguage ?? "")) {
    const messages = findMessages(tag);
    if (messages !== undefined) return { messages, asked: false };
  }
  return { messages: findMessages(settled) ?? en, asked: false };
}

function preferredTags(header: string): readonly string[] {
  return header
    .slice(0, headerCharactersMax)
    .split(",")
    .map((range) => {
      const [tag = "", ...parameters] = range.split(";").map((piece) => piece.trim());
      const quality = parameters.find((parameter) => parameter.startsWith("q="));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter((range) => range.quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map((range) => range.tag);
}
