import { inflateRawSync } from "node:zlib";
import type { KindName } from "../base/push-kinds.ts";
import { lazy } from "./formats.ts";
import { createMessages, type LanguageFacts, type Messages, type MessageTree } from "./messages.ts";

export type { Messages } from "./messages.ts";

/** In the built program a message file is compressed (DEFLATE, base64) and read when the language is first used. */
type MessageFile = { readonly default: MessageTree | string };

function treeOf({ default: content }: MessageFile): MessageTree {
  return typeof content === "string" ? JSON.parse(inflateRawSync(Buffer.from(content, "base64")).toString()) : content;
}

/** `npm run check` proves that every language has these. */
const sections = Object.keys(treeOf(await import("./messages/en.json", { with: { type: "json" } })));

async function language(facts: LanguageFacts, file: Promise<MessageFile>) {
  const content = await file;
  const tree = { sections, read: lazy(() => treeOf(content)) };
  return { messages: createMessages(facts, tree), inRegion: (region: string) => createMessages(facts, tree, region) };
}

/** In the order of the footer. Another language needs its message file and its line here. */
const supported = await Promise.all([
  language({ tag: "en", name: "English", dir: "ltr" }, import("./messages/en.json", { with: { type: "json" } })),
  language({ tag: "de", name: "Deutsch", dir: "ltr" }, import("./messages/de.json", { with: { type: "json" } })),
  language({ tag: "fr", name: "Français", dir: "ltr" }, import("./messages/fr.json", { with: { type: "json" } })),
  language({ tag: "es", name: "Español", dir: "ltr" }, import("./messages/es.json", { with: { type: "json" } })),
  language(
    { tag: "pt-BR", name: "Português (Brasil)", dir: "ltr" },
    import("./messages/pt-BR.json", { with: { type: "json" } }),
  ),
  language({ tag: "ja", name: "日本語", dir: "ltr" }, import("./messages/ja.json", { with: { type: "json" } })),
  language(
    { tag: "ar", name: "العربية", dir: "rtl", extension: "u-ca-gregory-nu-latn" },
    import("./messages/ar.json", { with: { type: "json" } }),
  ),
]);

/** Every language of the pages, with numbers and dates of no particular region. */
export const languages: readonly Messages[] = supported.map(({ messages }) => messages);
export const en = supported[0].messages satisfies MessagesByKind;

type ByKind = Readonly<Record<KindName, string>>;
/** The messages that pages select by the kind of a push. */
interface MessagesByKind {
  readonly kinds: ByKind;
  readonly newPush: { readonly payload: ByKind };
  readonly edit: { readonly newContent: ByKind };
  readonly secret: ByKind;
}

const byTag = new Map(languages.map((messages) => [messages.locale.tag.toLowerCase(), messages]));
const byPrimaryTag = new Map(
  languages.map((messages) => [primaryTagOf(messages.locale.tag), messages] as const).reverse(),
);

// A browser sends a handful of languages: the rest of a longer header is ignored.
const headerCharactersMax = 1_000;
const tagCharactersMax = 35;
// Clients choose the regions, so the number kept in memory is bounded.
const regionsKeptMax = 50;

function normalTag(tag: string): string {
  return tag.trim().toLowerCase().replace("_", "-");
}

function primaryTagOf(tag: string): string {
  return tag.toLowerCase().split("-")[0] ?? "";
}

/**
 * @param enabled languages of this instance.
 * @returns the language of a tag as people write it (`pt-br`, `pt_BR`, `de-AT`); undefined if it is not one of them.
 */
export function findMessages(tag: string | undefined, enabled: readonly Messages[] = languages): Messages | undefined {
  if (tag === undefined || tag.length > tagCharactersMax) return undefined;
  const normal = normalTag(tag);
  const found = byTag.get(normal) ?? byPrimaryTag.get(primaryTagOf(normal));
  return found !== undefined && enabled.includes(found) ? found : undefined;
}

/** @returns the region of a tag, for example "GB" or "419". */
function regionOf(tag: string): string | undefined {
  return /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2}|\d{3})$/.exec(normalTag(tag))?.[1]?.toUpperCase();
}

const messagesByRegion = new Map<string, Messages>();

/** @returns the messages with the numbers and dates of the region; unchanged if it is unknown for their language. */
function withRegion(messages: Messages, region: string): Messages {
  const tag = `${primaryTagOf(messages.locale.tag)}-${region}`;
  const kept = messagesByRegion.get(tag);
  if (kept !== undefined) return kept;
  const isKnown = new Intl.DateTimeFormat(tag).resolvedOptions().locale === tag;
  const language = supported.find((candidate) => candidate.messages === messages);
  if (!isKnown || language === undefined) return messages;
  const regional = language.inRegion(tag);
  const [oldest] = messagesByRegion.keys();
  if (oldest !== undefined && messagesByRegion.size >= regionsKeptMax) messagesByRegion.delete(oldest);
  messagesByRegion.set(tag, regional);
  return regional;
}

/** Where the language of an answer can come from, the strongest first. All are tags as people write them. */
export interface LocalePreferences {
  /** `?locale=` of this address. */
  readonly query: string | undefined;
  /** What the person has chosen in this browser before. */
  readonly chosen?: string | undefined;
  /** The language of the signed-in user's account. */
  readonly account: string | undefined;
  readonly acceptLanguage: string | undefined;
  /** The setting of the installation. */
  readonly defaultLocale?: string | undefined;
  /** The languages of the installation; with the default one, or English. */
  readonly enabled?: readonly Messages[] | undefined;
}

/**
 * The language is that of the first preference that is supported, else English; Accept-Language counts by quality
 * (RFC 9110, section 12.5.4). Numbers and dates follow the first preference of this language that names a region.
 * `fromQuery`: the query decided, so links on the page keep it.
 */
export function chooseLocale(preferences: LocalePreferences) {
  const { query, chosen, account, acceptLanguage = "", defaultLocale } = preferences;
  const find = (tag: string | undefined) => findMessages(tag, preferences.enabled);
  const tags = [query, chosen, account, ...preferredTags(acceptLanguage), defaultLocale].filter(
    (tag) => tag !== undefined,
  );
  const messages = tags.map(find).find((found) => found !== undefined) ?? en;
  const region = tags
    .filter((tag) => find(tag) === messages)
    .map(regionOf)
    .find((found) => found !== undefined);
  return {
    messages: region === undefined ? messages : withRegion(messages, region),
    fromQuery: find(query) !== undefined,
  };
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
