import { dayMs, hourMs, minuteMs, secondMs } from "../base/clock.ts";

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `reason`: a clause that replaces "it must be <allowed>". It never repeats the text. */
  | { readonly ok: false; readonly reason?: string };

/** How the text of a setting becomes its value. */
export interface ValueType<T> {
  /** Completes the sentence "it must be ...", and is shown in the documentation. */
  readonly allowed: string;
  /** @param text trimmed and not empty. */
  parse(text: string): Parsed<T>;
}

export const rejected = { ok: false } as const;

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

const booleanWords: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

/** Any other word is rejected: a misspelt switch must not silently mean either value. */
export const boolean: ValueType<boolean> = {
  allowed: "true or false (also yes/no, on/off, 1/0)",
  parse(text) {
    const word = text.toLowerCase();
    const value = Object.hasOwn(booleanWords, word) ? booleanWords[word] : undefined;
    return value === undefined ? rejected : accepted(value);
  },
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
    parse: (text): Parsed<T | W> => (text.toLowerCase() === word ? accepted(meaning) : type.parse(text)),
  };
}

/** Accepted as it is; checked later, if at all, when all settings are parsed. */
export function anyText(allowed: string): ValueType<string> {
  return { allowed, parse: accepted };
}

export const filePath: ValueType<string> = {
  allowed: "a path",
  parse: (text) => (/\p{Cc}/u.test(text) ? rejected : accepted(text)),
};

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

/**
 * A pattern as Password Pusher's settings contain it: Ruby's anchors of the whole text are converted, and its unnecessary
 * escapes are allowed (so there is no `u` flag).
 */
export const regularExpression: ValueType<RegExp> = {
  allowed: `a regular expression of at most ${patternCharactersMax} characters`,
  parse(text) {
    const bare = /^\/(.*)\/$/s.exec(text)?.[1] ?? text;
    const pattern = bare.replaceAll("\\A", "^").replace(/\\[zZ]/g, "$");
    if (pattern.length > patternCharactersMax) return rejected;
    try {
      return accepted(new RegExp(pattern));
    } catch (error) {
      if (error instanceof SyntaxError) return rejected;
      throw error;
    }
  },
};
