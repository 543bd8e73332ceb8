import type { English } from "./en.ts";
import { type Formats, formatsFor } from "./formats.ts";
import { once } from "./once.ts";
import { type Counted, counted, type Placeholders, type Template, template } from "./template.ts";

type PluralRule = Intl.LDMLPluralRule;

/** What a language says of itself. `plurals` are the categories that CLDR gives its whole numbers. */
export interface LanguageFacts<Tag extends string, Rule extends PluralRule> {
  /** BCP 47; stands in `lang`, in `?locale=` and in Accept-Language. */
  readonly tag: Tag;
  /** The language's name in itself. */
  readonly name: string;
  readonly dir: "ltr" | "rtl";
  /** The tag numbers and dates are written by, where it differs from `tag`. */
  readonly formatTag?: string;
  readonly plurals: readonly Rule[];
}

interface MessageTree {
  readonly [key: string]: string | MessageTree;
}

type Same<A extends string, B extends string> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

/** A sentence must name exactly the placeholders of its English original. */
type TranslatedText<Original extends string, T> = T extends string
  ? Same<Placeholders<Original>, Placeholders<T>> extends true
    ? T
    : { readonly expectedPlaceholders: Placeholders<Original> }
  : string;

/** Any plural form may spell its number out ("once"), so {count} may be absent, nothing else may. */
type TranslatedForm<Original extends string, T> = T extends string
  ? Same<Exclude<Placeholders<Original>, "count">, Exclude<Placeholders<T>, "count">> extends true
    ? T
    : { readonly expectedPlaceholders: Placeholders<Original> }
  : string;

type At<T, Key> = Key extends keyof T ? T[Key] : undefined;

/** T when it says all that `Original` says with every plural form of its language and nothing more; else a type it is not. */
export type Translated<Original, T, Rule extends PluralRule> = Original extends string
  ? TranslatedText<Original, T>
  : Original extends { readonly other: infer Form extends string }
    ? { readonly [Key in Rule]: TranslatedForm<Form, At<T, Key>> } & {
        readonly [Key in Exclude<keyof T, Rule>]: never;
      }
    : { readonly [Key in keyof Original]: Translated<Original[Key], At<T, Key>, Rule> } & {
        readonly [Key in Exclude<keyof T, keyof Original>]: never;
      };

type Compiled<Original> = Original extends string
  ? [Placeholders<Original>] extends [never]
    ? string
    : Template<Placeholders<Original>>
  : Original extends { readonly other: infer Form extends string }
    ? Counted<Exclude<Placeholders<Form>, "count">>
    : { readonly [Key in keyof Original]: Compiled<Original[Key]> };

/** Every sentence of the pages in one language: plain ones are strings, those with placeholders are functions. */
export type Messages = Compiled<English> & {
  readonly locale: Pick<LanguageFacts<string, PluralRule>, "tag" | "name" | "dir" | "plurals">;
  readonly formats: Formats;
};

/**
 * One language from its facts and its messages. A missing or surplus key, a missing plural form and a wrong
 * placeholder do not compile.
 */
export function language<const Tag extends string, const Rule extends PluralRule, const T extends MessageTree>(
  facts: LanguageFacts<Tag, Rule>,
  messages: T & Translated<English, T, Rule>,
): Messages {
  const { tag, name, dir, plurals } = facts;
  const formats = formatsFor(facts.formatTag ?? tag);
  const rules = once(() => new Intl.PluralRules(tag));
  const compile = (node: MessageTree | string): unknown => {
    if (typeof node === "string") return template(node, formats, dir);
    if (typeof node.other === "string") return counted(node, rules, formats, dir);
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, compile(child)]));
  };
  // Section by section, when a page first asks: few servers ever speak all languages.
  const sections = Object.entries(messages).map(([key, section]) => {
    return [key, { enumerable: true, get: once(() => compile(section)) }] as const;
  });
  // The signature has just proven that `messages` has the shape of the English tree; `compile` keeps that shape.
  const compiled = Object.defineProperties({}, Object.fromEntries(sections)) as Compiled<English>;
  return Object.assign(compiled, { locale: { tag, name, dir, plurals }, formats });
}
