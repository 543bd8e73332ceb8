import { IntlMessageFormat } from "intl-messageformat";
import type { MessageValues } from "./english-messages.ts";
import { type Formats, formatsFor, lazy } from "./formats.ts";
import type { Message } from "./message.ts";
import type english from "./messages/en.json";

/** What the list of languages says about one of them. */
export interface LanguageFacts {
  /** BCP 47: the value of `lang`, of `?locale=` and in Accept-Language. */
  readonly tag: string;
  /** The language's name in itself. */
  readonly name: string;
  readonly dir: "ltr" | "rtl";
  /** A Unicode extension (RFC 6067) for numbers and dates, for example for the digits. */
  readonly extension?: string;
}

/** A message file: ICU MessageFormat strings, nested by section. */
export interface MessageTree {
  readonly [key: string]: string | MessageTree;
}

type TextsOf<Tree, Prefix extends string = ""> = {
  readonly [Key in keyof Tree & string]: Tree[Key] extends string
    ? TextAt<`${Prefix}${Key}`>
    : TextsOf<Tree[Key], `${Prefix}${Key}.`>;
};

type TextAt<Path extends string> = Path extends keyof MessageValues ? Message<MessageValues[Path]> : string;

type EnglishMessages = TextsOf<typeof english>;

/** All messages in one language: those without placeholders are strings, the others functions. */
export type Messages = EnglishMessages & {
  readonly locale: Pick<LanguageFacts, "tag" | "name" | "dir"> & {
    /** BCP 47 with region and extension: how numbers and dates are written. */
    readonly formatTag: string;
  };
  readonly formats: Formats;
};

// Left-to-right values (addresses, names) must not reorder a right-to-left sentence around them.
const firstStrongIsolate = "\u2068";
/** For a value that is a sentence with values itself: the browser ignores these when it looks for the first letter. */
const rightToLeftIsolate = "\u2067";
const popIsolate = "\u2069";

function isolated<Value>(values: Readonly<Record<string, Value>>): Record<string, Value | string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? isolateFor(value) + value + popIsolate : value,
    ]),
  );
}

function isolateFor(value: string): string {
  return value.includes(firstStrongIsolate) ? rightToLeftIsolate : firstStrongIsolate;
}

function createMessage(format: () => IntlMessageFormat, dir: "ltr" | "rtl"): Message<Record<string, string | number>> {
  const inserted = <Value>(values: Readonly<Record<string, Value>>) => (dir === "rtl" ? isolated(values) : values);
  return Object.assign(
    (values: Readonly<Record<string, string | number>>) => String(format().format(inserted(values))),
    {
      parts: <Piece>(values: Readonly<Record<string, string | number | Piece>>): readonly (string | Piece)[] =>
        format()
          .formatToParts<Piece>(inserted(values))
          .map((part) => part.value),
    },
  );
}

/**
 * @param file has the keys and placeholders of the English messages, which `npm run check` proves.
 * @param regionTag for numbers and dates, for example "en-GB".
 * @returns the messages; each section and each message is compiled when it is first used.
 */
export function createMessages(
  facts: LanguageFacts,
  file: { readonly sections: readonly string[]; read(): MessageTree },
  regionTag = facts.tag,
): Messages {
  const { tag, name, dir, extension } = facts;
  const formatTag = extension === undefined ? regionTag : `${regionTag}-${extension}`;
  const formatters = {
    getNumberFormat: lazy(() => new Intl.NumberFormat(formatTag)),
    getPluralRules: lazy(() => new Intl.PluralRules(tag)),
    getDateTimeFormat: lazy(() => new Intl.DateTimeFormat(formatTag)),
  };
  const compile = (node: MessageTree | string): unknown => {
    if (typeof node !== "string") {
      return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, compile(child)]));
    }
    // Without braces and apostrophes, ICU syntax has nothing to interpret.
    if (!/[{']/.test(node)) return node;
    const format = lazy(() => new IntlMessageFormat(node, formatTag, undefined, { ignoreTag: true, formatters }));
    return node.includes("{") ? createMessage(format, dir) : String(format().format());
  };
  const sections = file.sections.map((key) => {
    return [key, { enumerable: true, get: lazy(() => compile(file.read()[key] ?? {})) }] as const;
  });
  const compiled = Object.defineProperties({}, Object.fromEntries(sections)) as EnglishMessages;
  return Object.assign(compiled, { locale: { tag, name, dir, formatTag }, formats: formatsFor(formatTag) });
}
