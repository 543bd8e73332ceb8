import type { Static, TObject, TSchema } from "typebox";

/** What a value of the wire became, or one sentence about why it is none of its type. */
export type Reading = { readonly value: unknown } | { readonly problem: string };
type Read = (given: unknown) => Reading;

/** How the fields of one schema are read; made once. */
export interface FieldsReader<Schema extends TObject> {
  /**
   * Null is "not given"; keys that the schema does not name are ignored, inherited ones too. Problems are added under
   * the field's wire name.
   */
  read(fields: object, problems: Map<string, string>): Partial<Static<Schema>>;
}

/**
 * Walks a schema of optional fields. Clients send types loosely, so integers may be digit strings and booleans words;
 * the values' limits are the domain's, but for those that the schema itself names.
 */
export function fieldsReader<Schema extends TObject>(schema: Schema): FieldsReader<Schema> {
  const readers = Object.entries(schema.properties as Record<string, TSchema>).map(
    ([name, property]) => [name, readerOf(property)] as const,
  );
  return {
    read(fields, problems) {
      const values: Record<string, unknown> = {};
      for (const [name, read] of readers) {
        const given: unknown = Object.hasOwn(fields, name) ? Reflect.get(fields, name) : undefined;
        if (given === undefined || given === null) continue;
        const reading = read(given);
        if ("problem" in reading) problems.set(name, reading.problem);
        else values[name] = reading.value;
      }
      return values as Partial<Static<Schema>>;
    },
  };
}

/** The schema's type chooses the reader, so a field that is added to the schema is read and documented at once. */
function readerOf(schema: TSchema): Read {
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

function readText(given: unknown): Reading {
  if (typeof given !== "string") return { problem: "must be a string." };
  return given.isWellFormed() ? { value: given } : { problem: "holds a lone surrogate, which is not a character." };
}

const yes = new Set(["true", "on", "yes", "checked", "1"]);

function readBoolean(given: unknown): Reading {
  return { value: given === true || given === 1 || (typeof given === "string" && yes.has(given.toLowerCase())) };
}

/** Within ±10^15 integers are exact; what is larger is outside every range anyway, but must not be taken for another. */
const digits = /^-?\d{1,15}$/;

function readInteger(given: unknown): Reading {
  const value = typeof given === "string" && digits.test(given) ? Number(given) : given;
  return Number.isSafeInteger(value) ? { value } : { problem: "must be an integer." };
}

function readBounded(given: unknown, minimum: number, maximum: number): Reading {
  const reading = readInteger(given);
  const within = "value" in reading && Number(reading.value) >= minimum && Number(reading.value) <= maximum;
  return within ? reading : { problem: `must be an integer from ${minimum} to ${maximum}.` };
}

function readChoice(given: unknown, choices: readonly unknown[]): Reading {
  return choices.includes(given) ? { value: given } : { problem: `must be one of ${choices.join(", ")}.` };
}

function readList(given: unknown, element: TObject): Reading {
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
