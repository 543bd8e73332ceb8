import type { Static, TObject, TSchema } from "typebox";

/** The value of a field, or one sentence that says why it is not of the field's type. */
type FieldResult = { readonly value: unknown } | { readonly problem: string };
type ReadField = (given: unknown) => FieldResult;

/**
 * Creates the reader of a schema of optional fields. Clients send loose types: integers may be digit strings, booleans may
 * be words. It checks only the limits in the schema; the domain checks all others.
 */
export function fieldsReader<Schema extends TObject>(schema: Schema) {
  const readers = Object.entries(schema.properties as Record<string, TSchema>).map(
    ([name, property]) => [name, readerOf(property)] as const,
  );
  return {
    /**
     * Null counts as not given; keys that are not in the schema are ignored, inherited ones too.
     * @param problems receives a sentence for each invalid field, by its wire name.
     */
    read(fields: object, problems: Map<string, string>): Partial<Static<Schema>> {
      const values: Record<string, unknown> = {};
      for (const [name, read] of readers) {
        const given: unknown = Object.hasOwn(fields, name) ? Reflect.get(fields, name) : undefined;
        if (given === undefined || given === null) continue;
        const result = read(given);
        if ("problem" in result) problems.set(name, result.problem);
        else values[name] = result.value;
      }
      return values as Partial<Static<Schema>>;
    },
  };
}

/** The schema selects the reader, so a field added to the schema is read and documented without further code. */
function readerOf(schema: TSchema): ReadField {
  const { type, enum: choices, minimum, maximum, items } = schema as { readonly [key: string]: unknown };
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
      return (given) => readList(given, items as TObject);
    default:
      throw new Error(`No reader for fields of type ${String(type)}.`);
  }
}

function readText(given: unknown): FieldResult {
  if (typeof given !== "string") return { problem: "must be a string." };
  return given.isWellFormed() ? { value: given } : { problem: "contains a lone surrogate, which is not a character." };
}

const trueWords = new Set(["true", "on", "yes", "checked", "1"]);

function readBoolean(given: unknown): FieldResult {
  return { value: given === true || given === 1 || (typeof given === "string" && trueWords.has(given.toLowerCase())) };
}

/** Integers within ±10^15 are exact. Larger ones are outside every range, and rounding must not move them into one. */
const digits = /^-?\d{1,15}$/;

function readInteger(given: unknown): FieldResult {
  const value = typeof given === "string" && digits.test(given) ? Number(given) : given;
  return Number.isSafeInteger(value) ? { value } : { problem: "must be an integer." };
}

function readBounded(given: unknown, minimum: number, maximum: number): FieldResult {
  const result = readInteger(given);
  const within = "value" in result && Number(result.value) >= minimum && Number(result.value) <= maximum;
  return within ? result : { problem: `must be an integer from ${minimum} to ${maximum}.` };
}

function readChoice(given: unknown, choices: readonly unknown[]): FieldResult {
  return choices.includes(given) ? { value: given } : { problem: `must be one of ${choices.join(", ")}.` };
}

function readList(given: unknown, element: TObject): FieldResult {
  const problem = { problem: `must be a list of objects with ${Object.keys(element.properties).join(", ")}.` };
  if (!Array.isArray(given)) return problem;
  const reader = fieldsReader(element);
  const required: readonly string[] = element.required ?? [];
  const problems = new Map<string, string>();
  const values: object[] = [];
  for (const item of given) {
    if (typeof item !== "object" || item === null) return problem;
    const value = reader.read(item, problems);
    if (problems.size > 0 || !required.every((name) => Object.hasOwn(value, name))) return problem;
    values.push(value);
  }
  return { value: values };
}
