export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `reason`: a whole clause that says more than "not one of the allowed values". It never repeats the text. */
  | { readonly ok: false; readonly reason?: string };

/** How the text of a setting becomes its value. */
export interface ValueType<T> {
  /** Completes the sentence "it must be ...", and stands in the documentation. */
  readonly allowed: string;
  /** @param text trimmed and not empty. */
  parse(text: string): Parsed<T>;
}

export const refused = { ok: false } as const;

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

const truthWords: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

/** Any other word is refused: a switch that is misspelled must not silently fall to either side. */
export const truth: ValueType<boolean> = {
  allowed: "true or false (also yes/no, on/off, 1/0)",
  parse(text) {
    const word = text.toLowerCase();
    const value = Object.hasOwn(truthWords, word) ? truthWords[word] : undefined;
    return value === undefined ? refused : accepted(value);
  },
};

/** Both bounds are included. */
export function wholeNumber(min: number, max: number): ValueType<number> {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse(text) {
      if (!/^\d{1,15}$/.test(text)) return refused;
      const value = Number(text);
      return value < min || value > max ? refused : accepted(value);
    },
  };
}

/** One of the messages, in any case. `messages`: word -> value. */
export function oneWordOf<const T>(messages: Readonly<Record<string, T>>): ValueType<T> {
  const known = new Map(Object.entries(messages));
  return {
    allowed: `one of ${[...known.keys()].join(", ")}`,
    parse(text) {
      const value = known.get(text.toLowerCase());
      return value === undefined ? refused : accepted(value);
    },
  };
}

/** `type`, or one word beside it with a meaning of its own. */
export function wordOr<T, const W>(word: string, meaning: W, type: ValueType<T>): ValueType<T | W> {
  return {
    allowed: `${word}, or ${type.allowed}`,
    parse: (text): Parsed<T | W> => (text.toLowerCase() === word ? accepted(meaning) : type.parse(text)),
  };
}

/** Taken as it is; what it means is found out later, when all settings are read. */
export function anyText(allowed: string): ValueType<string> {
  return { allowed, parse: accepted };
}

export const filePath: ValueType<string> = {
  allowed: "a path",
  parse: (text) => (/\p{Cc}/u.test(text) ? refused : accepted(text)),
};

const patternCharactersMax = 1_000;

/**
 * Patterns come along from the field's servers: Ruby's anchors of the whole text are read as ours, and its needless escapes are
 * allowed (so no `u` flag).
 */
export const regularExpression: ValueType<RegExp> = {
  allowed: `a regular expression of at most ${patternCharactersMax} characters`,
  parse(text) {
    const bare = /^\/(.*)\/$/s.exec(text)?.[1] ?? text;
    const pattern = bare.replaceAll("\\A", "^").replace(/\\[zZ]/g, "$");
    if (pattern.length > patternCharactersMax) return refused;
    try {
      return accepted(new RegExp(pattern));
    } catch (error) {
      if (error instanceof SyntaxError) return refused;
      throw error;
    }
  },
};
