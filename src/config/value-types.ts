import { dayMs, hourMs, minuteMs, secondMs } from "../base/clock.ts";
import { translateRubyRegExp } from "./ruby-regexp.ts";

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `reason`: a clause that replaces "it must be <allowed>". It never repeats the text. */
  | { readonly ok: false; readonly reason?: string };

/** How the text of a setting becomes its value. */
export interface ValueType<T> {
  /** Completes the sentence "it must be ...", and is shown in the documentation. */
  readonly allowed: string;
  /** A clause on what to write instead, if an empty value is a mistake; otherwise it counts as not set. */
  readonly whenEmpty?: string;
  /** @param text trimmed and not empty. */
  parse(text: string): Parsed<T>;
}

export const rejected = { ok: false } as const;

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/**
 * Password Pusher reads most other spellings (`False`, `0`, an empty value) as true. A value that is true there and false
 * here could, for example, open sign-up, so only the two words are accepted.
 */
export const boolean: ValueType<boolean> = {
  allowed: "true or false",
  whenEmpty: "it must be true or false; without the line, the default is used",
  parse(text) {
    if (text !== "true" && text !== "false") return { ok: false, reason: "it must be true or false, in lower case" };
    return accepted(text === "true");
  },
};

const onOrUnset = "it must be true, or not set at all: in Password Pusher any value switches it on, even false";

/** A switch that Password Pusher reads as on as soon as its name exists, also with the value false. */
export const onByPresence: ValueType<true> = {
  allowed: "true, or not set at all",
  whenEmpty: onOrUnset,
  parse: (text) => (text === "true" ? accepted(true) : { ok: false, reason: onOrUnset }),
};

/** Both bounds are included. */
export function wholeNumber(min: number, max: number): ValueType<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse(text) {
      if (!/^\d{1,15}$/.test(text)) return rejected;
      const value = Number(text);
      return value < min || value > max ? rejected : accepted(value);
    },
  };
}

/** One of the words, in any case. @param words word -> value. */
export function oneOf<const T>(words: Readonly<Record<string, T>>): ValueType<T> {
  const known = new Map(Object.entries(words));
  return {
    allowed: `one of ${[...known.keys()].join(", ")}`,
    parse(text) {
      const value = known.get(text.toLowerCase());
      return value === undefined ? rejected : accepted(value);
    },
  };
}

/** `type`, or one additional word that has a meaning of its own. */
export function wordOr<T, const W>(word: string, meaning: W, type: ValueType<T>): ValueType<T | W> {
  return {
    allowed: `${word}, or ${type.allowed}`,
    ...(type.whenEmpty !== undefined && { whenEmpty: type.whenEmpty }),
    parse: (text): Parsed<T | W> => (text.toLowerCase() === word ? accepted(meaning) : type.parse(text)),
  };
}

/** The same texts, with another value: seconds as milliseconds. */
export function converted<T, U>(type: ValueType<T>, convert: (value: T) => U): ValueType<U> {
  return {
    ...type,
    parse(text): Parsed<U> {
      const parsed = type.parse(text);
      return parsed.ok ? accepted(convert(parsed.value)) : parsed;
    },
  };
}

/** In milliseconds, given as a whole number of `unitMs`. Both bounds are included. */
export function wholeUnits(unitMs: number, min: number, max: number): ValueType<number> {
  return converted(wholeNumber(min, max), (count) => count * unitMs);
}

/** Accepted as it is; checked later, if at all, when all settings are parsed. */
export function anyText(allowed: string): ValueType<string> {
  return { allowed, parse: accepted };
}

/** The text as it is, if it fits. */
export function textThat(allowed: string, fits: (text: string) => boolean): ValueType<string> {
  return { allowed, parse: (text) => (fits(text) ? accepted(text) : rejected) };
}

export const filePath = textThat("a path", (text) => !/\p{Cc}/u.test(text));

const sizePrefixes = "kmgt";

/**
 * Bytes, as a plain number or with a unit: kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024
 * (IEC 80000-13). The letters may be of either case. Both bounds are included.
 */
export function byteSize(bounds: { min: number; max: number; allowed: string }): ValueType<number> {
  return {
    allowed: `a number of bytes or a size such as 512MB or 1GiB, ${bounds.allowed}`,
    parse(text) {
      const match = /^(\d{1,15})\s*(?:([kmgt])(i?)b|b)?$/i.exec(text);
      if (match === null) return rejected;
      const [, count = "", prefix, binary] = match;
      const exponent = prefix === undefined ? 0 : sizePrefixes.indexOf(prefix.toLowerCase()) + 1;
      const value = Number(count) * (binary ? 1024 : 1000) ** exponent;
      return value < bounds.min || value > bounds.max ? rejected : accepted(value);
    },
  };
}

const durationUnitMs: Readonly<Record<string, number>> = {
  second: secondMs,
  minute: minuteMs,
  hour: hourMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
  year: 365 * dayMs,
};

/**
 * Milliseconds, from a count and a unit: "3 months", "2 hours". A month is 30 days, a year 365. `plainNumber`: whether a
 * number without a unit is accepted, as seconds. Both bounds are included.
 */
export function duration(bounds: {
  minMs: number;
  maxMs: number;
  plainNumber: "seconds" | "rejected";
  allowed: string;
}): ValueType<number> {
  return {
    allowed: bounds.allowed,
    parse(text) {
      const match = /^(\d{1,9})(?:[ .]?([a-z]+?)s?)?$/i.exec(text);
      if (match === null) return rejected;
      const [, count = "", unit] = match;
      if (unit === undefined && bounds.plainNumber === "rejected") return rejected;
      const name = unit?.toLowerCase() ?? "second";
      const unitMs = Object.hasOwn(durationUnitMs, name) ? durationUnitMs[name] : undefined;
      if (unitMs === undefined) return rejected;
      const value = Number(count) * unitMs;
      return value < bounds.minMs || value > bounds.maxMs ? rejected : accepted(value);
    },
  };
}

const patternCharactersMax = 1_000;

/** A pattern in Ruby's syntax, as Password Pusher's settings contain it. */
export const rubyRegularExpression: ValueType<RegExp> = {
  allowed: `a regular expression of at most ${patternCharactersMax} characters, in Ruby's syntax`,
  parse(text) {
    if (text.length > patternCharactersMax) return rejected;
    const translation = translateRubyRegExp(text);
    if (translation.ok) return accepted(translation.pattern);
    return { ok: false, reason: `${translation.reason}, which cannot be read with the meaning that it has in Ruby` };
  },
};
