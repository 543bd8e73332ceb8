import { openApiDocument } from "../src/api/v2/openapi.ts";
import { durationMinutes } from "../src/http/push-fields.ts";

type Schema = { readonly [key: string]: unknown };

/** The types of @sealpush/client, from the schemas that validate requests and type the answers of API v2. */
export function clientTypes(): string {
  const schemas = openApiDocument().components.schemas as Readonly<Record<string, Schema>>;
  const types = Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema, "")};\n`);
  return [
    "/** Generated from the schemas of API v2 by `npm run docs`. */\n",
    ...types,
    "/** Minutes, by the number that `expire_after_duration` has. */",
    `export const durationMinutes: readonly number[] = ${JSON.stringify(durationMinutes)};\n`,
  ].join("\n");
}

/** A reader of the generated file must not miss a part of a schema, so unknown ones stop the generator. */
function typeOf(schema: Schema, indent: string): string {
  const { type, const: literal, enum: choices, anyOf, items } = schema;
  if (literal !== undefined) return JSON.stringify(literal);
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((part: Schema) => typeOf(part, indent)).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
      return "number";
    case "array":
      return `readonly (${typeOf(items as Schema, indent)})[]`;
    case "object":
      return objectType(schema, indent);
    default:
      throw new Error(`No TypeScript type for the schema ${JSON.stringify(schema)}.`);
  }
}

function objectType({ properties, patternProperties, required }: Schema, indent: string): string {
  const values = Object.values((patternProperties ?? {}) as Record<string, Schema>);
  if (values.length > 0) {
    return `{ readonly [name: string]: ${values.map((value) => typeOf(value, indent)).join(" | ")} }`;
  }
  const requiredNames = (required ?? []) as readonly string[];
  const inner = `${indent}  `;
  const lines = Object.entries((properties ?? {}) as Record<string, Schema>).flatMap(([name, property]) => [
    ...(typeof property.description === "string" ? [`${inner}/** ${property.description} */`] : []),
    `${inner}readonly ${name}${requiredNames.includes(name) ? "" : "?"}: ${typeOf(property, inner)};`,
  ]);
  return ["{", ...lines, `${indent}}`].join("\n");
}
