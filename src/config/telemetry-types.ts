import { accepted, type Parsed, refused, type ValueType } from "./value-type.ts";

const tokenCharacters = { min: 16, max: 256 } as const;
const attributesMax = 64;

/** RFC 6750: what can stand behind `Bearer`. Long enough that nobody guesses it. */
export const accessToken: ValueType<string> = {
  allowed: `${tokenCharacters.min} to ${tokenCharacters.max} letters, digits or any of - . _ ~ + / =`,
  parse: (text) =>
    /^[A-Za-z0-9._~+/-]+=*$/.test(text) && text.length >= tokenCharacters.min && text.length <= tokenCharacters.max
      ? accepted(text)
      : refused,
};

export const collectorUrl: ValueType<string> = {
  allowed: "an http or https address, such as http://127.0.0.1:4318",
  parse(text) {
    const url = /^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(text) ? URL.parse(text) : null;
    return url === null || url.hash !== "" ? refused : accepted(text);
  },
};

/** Both ends included. */
export const share: ValueType<number> = {
  allowed: "a number from 0 to 1",
  parse(text) {
    const value = /^\d*\.?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= 0 && value <= 1 ? accepted(value) : refused;
  },
};

/** OpenTelemetry's resource specification: as in W3C Baggage, values percent-encoded. */
export const attributePairs: ValueType<Readonly<Record<string, string>>> = {
  allowed: `name=value pairs separated by commas, at most ${attributesMax}`,
  parse(text): Parsed<Readonly<Record<string, string>>> {
    const pairs = text.split(",").map((pair) => /^\s*([^\s=,]+)\s*=([^=]*)$/.exec(pair));
    if (pairs.length > attributesMax) return refused;
    const attributes = new Map<string, string>();
    for (const pair of pairs) {
      const [, name, encoded] = pair ?? [];
      const value = encoded === undefined ? undefined : decoded(encoded.trim());
      if (name === undefined || value === undefined) return refused;
      attributes.set(name, value);
    }
    return accepted(Object.fromEntries(attributes));
  },
};

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
