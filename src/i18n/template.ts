import type { Formats } from "./formats.ts";

/** The names between braces: `"{min} to {max}"` has `"min" | "max"`. */
export type Placeholders<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Numbers are written as the language writes them; text is inserted as it is. */
type Value = string | number;

/** A sentence with placeholders. */
export interface Template<Name extends string> {
  (values: { readonly [Key in Name]: Value }): string;
  /** The same sentence in pieces, for a value that is an element and not text. */
  parts<Piece>(values: { readonly [Key in Name]: Value | Piece }): readonly (string | Piece)[];
}

/** A sentence whose form depends on a number. */
export type Counted<Name extends string> = (
  values: { readonly [Key in Name]: Value } & { readonly count: number },
) => string;

type Direction = "ltr" | "rtl";
type Segment = { readonly text: string } | { readonly name: string };

// Left-to-right values (addresses, numbers with units) must not reorder a right-to-left sentence around them.
const firstStrongIsolate = "\u2068";
const popIsolate = "\u2069";

function segmentsOf(message: string): readonly Segment[] {
  return message
    .split(/(\{[a-zA-Z]+\})/)
    .filter((piece) => piece !== "")
    .map((piece) => (piece.startsWith("{") ? { name: piece.slice(1, -1) } : { text: piece }));
}

function written(value: Value, formats: Formats, dir: Direction): string {
  if (typeof value === "number") return formats.number(value);
  return dir === "rtl" ? firstStrongIsolate + value + popIsolate : value;
}

function fill(segments: readonly Segment[], values: Readonly<Record<string, Value>>, formats: Formats, dir: Direction) {
  let sentence = "";
  for (const segment of segments) {
    sentence += "text" in segment ? segment.text : written(values[segment.name] ?? "", formats, dir);
  }
  return sentence;
}

/** @returns the message itself when it has no placeholder, else the function that fills it. */
export function template(message: string, formats: Formats, dir: Direction): string | Template<string> {
  const segments = segmentsOf(message);
  if (segments.every((segment) => "text" in segment)) return message;
  const whole = (values: Readonly<Record<string, Value>>) => fill(segments, values, formats, dir);
  const parts = <Piece>(values: Readonly<Record<string, Value | Piece>>): readonly (string | Piece)[] =>
    segments.map((segment) => {
      if ("text" in segment) return segment.text;
      const value = values[segment.name] ?? "";
      return typeof value === "string" || typeof value === "number" ? written(value, formats, dir) : value;
    });
  return Object.assign(whole, { parts });
}

/** @param forms plural category -> message; `other` is always there. */
export function counted(
  forms: Readonly<Record<string, unknown>>,
  rules: () => Intl.PluralRules,
  formats: Formats,
  dir: Direction,
): Counted<string> {
  const segmentsByCategory = new Map<string, readonly Segment[]>();
  for (const [category, message] of Object.entries(forms)) {
    if (typeof message === "string") segmentsByCategory.set(category, segmentsOf(message));
  }
  return (values) => {
    const segments = segmentsByCategory.get(rules().select(values.count)) ?? segmentsByCategory.get("other") ?? [];
    return fill(segments, values, formats, dir);
  };
}
