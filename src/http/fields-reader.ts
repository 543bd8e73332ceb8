import type { Static, TObject, TSchema } from "typebox";
import { AppError } from "../base/errors.ts";
import { isJsonObject, JsonNumber, JsonReader } from "./body/json-reader.ts";

/** The value of a field, undefined if it counts as not given, or one sentence that says why it is not of the field's type. */
type FieldResult = { readonly value: unknown } | { readonly problem: string };
type ReadField = (given: unknown) => FieldResult;

/**
 * Creates the reader of a schema of optional fields. Clients send loose types: integers may be digit strings, booleans may
 * be words. It checks only the limits in the schema; the domain checks all others.
 */
export function fieldsReader<Schema extends TObject>(schema: Schema) {
  const readers = new Map(
    Object.entries(schema.properties as Record<string, TSchema>).map(([name, property]) => [name, readerOf(property)]),
  );
  return {
    /**
     * Keys that are not in the schema are ignored, inherited ones too.
     * @param problems receives a sentence for each invalid field, by its wire name.
     */
    read(fields: object, problems: Map<string, string>): Partial<Static<Schema>> {
      const values: Record<string, unknown> = {};
      // Most requests name few of the fields.
      for (const [name, given] of Object.entries(fields) as [string, unknown][]) {
        const result = given === undefined ? undefined : readers.get(name)?.(given);
        if (result === undefined) continue;
        if ("problem" in result) problems.set(name, result.problem);
        else if (result.value !== undefined) values[name] = result.value;
      }
      return values as Partial<Static<Schema>>;
    },
  };
}

/** The schema selects the reader, so a field added to the schema is read and documented without further code. */
function readerOf(schema: TSchema): ReadField {
  const {
    type,
    enum: choices,
    minimum,
    maximum,
    items,
    contentMediaType,
  } = schema as { readonly [key: string]: unknown };
  if (Array.isArray(choices)) return (given) => readChoice(given, choices);
  switch (type) {
    case "string":
      return readText;
    case "boolean":
      return readBoolean;
    case "integer":
      return typeof minimum === "number" && typeof maximum === "number"
        ? (given) => readBounded(given, minimum, maximum)
        : readInteger;
    case "array":
      return contentMediaType === "application/json"
        ? (given) => readList(parsedList(given), items as TObject)
        : (given) => readList(given, items as TObject);
    default:
      throw new Error(`No reader for fields of type ${String(type)}.`);
  }
}

const notGiven = { value: undefined };

/** Scripts send PINs as numbers: those are texts of the same characters. */
function readText(given: unknown): FieldResult {
  if (given === null) return notGiven;
  if (given instanceof JsonNumber) return { value: given.text };
  if (typeof given !== "string") return { problem: "must be a string." };
  return given.isWellFormed() ? { value: given } : { problem: "contains a lone surrogate, which is not a character." };
}

const trueWords = new Set(["true", "on", "yes", "checked", "1"]);

/** Null is false: with null, a caller protects a push against deletion by its viewers. */
function readBoolean(given: unknown): FieldResult {
  const word = given instanceof JsonNumber ? given.text : given;
  return { value: word === true || (typeof word === "string" && trueWords.has(word.toLowerCase())) };
}

/**
 * Blank texts count as not given: scripts send variables that are not set. An integer beyond the exact ones is outside every
 * range, which the caller checks; rounding does not move it into one.
 */
function readInteger(given: unknown): FieldResult {
  const text = typeof given === "string" ? given.trim() : undefined;
  if (given === null || text === "") return notGiven;
  if (given instanceof JsonNumber && isJsonInteger(given.text)) return { value: Number(given.text) };
  return text !== undefined && /^[-+]?\d+$/.test(text) ? { value: Number(text) } : { problem: "must be an integer." };
}

const digits = /^\d{1,15}$/;
const jsonNumber = /^-?\d+(?:\.(\d{1,400}))?(?:[eE]\+?(\d{1,400}))?$/;

/** Exactly: `3.0` and `1.5e1` are integers, `1.00000000000000000001` is none. */
function isJsonInteger(text: string): boolean {
  if (digits.test(text)) return true;
  const parts = jsonNumber.exec(text);
  if (parts === null) return false;
  const [, fraction = "", exponent = "0"] = parts;
  return fraction.replace(/0+$/, "").length <= Number(exponent);
}

function readBounded(given: unknown, minimum: number, maximum: number): FieldResult {
  const result = readInteger(given);
  if (result === notGiven) return result;
  const within = "value" in result && Number(result.value) >= minimum && Number(result.value) <= maximum;
  return within ? result : { problem: `must be an integer from ${minimum} to ${maximum}.` };
}

function readChoice(given: unknown, choices: readonly unknown[]): FieldResult {
  if (given === null || given === "") return notGiven;
  return choices.includes(given) ? { value: given } : { problem: `must be one of ${choices.join(", ")}.` };
}

/** Forms have texts only. A text that is no JSON stays as it is, and is no list. */
function parsedList(given: unknown): unknown {
  if (typeof given !== "string" || given === "") return given;
  const reader = new JsonReader();
  try {
    reader.write(Buffer.from(given));
    return reader.end();
  } catch (error) {
    if (error instanceof AppError) return given;
    throw error;
  }
}

/** Blank elements count as not given: form libraries add one, so that the name is sent even without a file. */
function readList(given: unknown, element: TObject): FieldResult {
  if (given === null || given === "") return notGiven;
  const problem = { problem: `must be a list of objects with ${Object.keys(element.properties).join(", ")}.` };
  if (!Array.isArray(given)) return problem;
  const reader = fieldsReader(element);
  const required: readonly string[] = element.required ?? [];
  const problems = new Map<string, string>();
  const values: object[] = [];
  for (const item of given) {
    if (item === "") continue;
    if (!isJsonObject(item)) return problem;
    const value = reader.read(item, problems);
    for (const name of required)
      if (!Object.hasOwn(value, name) && !problems.has(name)) problems.set(name, "is missing.");
    const [found] = problems;
    if (found !== undefined) return { problem: `${values.length + 1}: ${found.join(" ")}` };
    values.push(value);
  }
  return { value: values };
}
