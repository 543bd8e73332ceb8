import { isDeepStrictEqual } from "node:util";
import { openApiDocument } from "../src/api/v2/openapi.ts";
import { durationMinutes } from "../src/http/push-fields.ts";

type Schema = { readonly [key: string]: unknown };

/** The types of @sealpush/client, from the schemas that validate requests and type the answers of API v2. */
export function clientTypes(): string {
  const schemas = openApiDocument().components.schemas as Readonly<Record<string, Schema>>;
  const types = Object.entries(schemas).map(([name, schema], at) => {
    const bases = Object.entries(schemas).slice(0, at);
    return `export type ${name} = ${typeOf(schema, { indent: "", bases })};\n`;
  });
  return [
    "/** Generated from the schemas of API v2 by `npm run docs`. */\n",
    ...types,
    "/** Minutes, by the number that `expire_after_duration` has. */",
    `export const durationMinutes: readonly number[] = ${JSON.stringify(durationMinutes)};\n`,
  ].join("\n");
}

interface Place {
  readonly indent: string;
  /** The types above, which this one may extend. */
  readonly bases: readonly (readonly [name: string, schema: Schema])[];
}

/** A reader of the generated file must not miss a part of a schema, so unknown ones stop the generator. */
function typeOf(schema: Schema, place: Place): string {
  const { type, const: literal, enum: choices, anyOf, items } = schema;
  if (literal !== undefined) return JSON.stringify(literal);
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (Array.isArray(anyOf)) return anyOf.map((part: Schema) => typeOf(part, place)).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
      return "number";
    case "array":
      return `readonly (${typeOf(items as Schema, place)})[]`;
    case "object":
      return objectType(schema, place);
    default:
      throw new Error(`No TypeScript type for the schema ${JSON.stringify(schema)}.`);
  }
}

function objectType(schema: Schema, { indent, bases }: Place): string {
  const inner = `${indent}  `;
  const place = { indent: inner, bases };
  const values = Object.values((schema.patternProperties ?? {}) as Record<string, Schema>);
  if (values.length > 0) {
    return `{ readonly [name: string]: ${values.map((value) => typeOf(value, place)).join(" | ")} }`;
  }
  const properties = propertiesOf(schema);
  const [base, inherited] = widestBase(properties, bases) ?? [];
  const lines = [...properties]
    .filter(([name]) => inherited?.has(name) !== true)
    .flatMap(([name, { property, isRequired }]) => [
      ...(typeof property.description === "string" ? [`${inner}/** ${property.description} */`] : []),
      `${inner}readonly ${name}${isRequired ? "" : "?"}: ${typeOf(property, place)};`,
    ]);
  if (base !== undefined && lines.length === 0) return base;
  return [base === undefined ? "{" : `${base} & {`, ...lines, `${indent}}`].join("\n");
}

type Properties = ReadonlyMap<string, { readonly property: Schema; readonly isRequired: boolean }>;

function propertiesOf({ properties = {}, required = [] }: Schema): Properties {
  const names = required as readonly string[];
  const entries = Object.entries(properties as Readonly<Record<string, Schema>>);
  return new Map(entries.map(([name, property]) => [name, { property, isRequired: names.includes(name) }]));
}

/** The type with the most properties, all of which the object has too. Small ones are alike by chance. */
function widestBase(properties: Properties, bases: Place["bases"]) {
  return bases
    .map(([name, schema]) => [name, propertiesOf(schema)] as const)
    .filter(([, of]) => of.size > 5 && [...of].every(([name, own]) => isDeepStrictEqual(own, properties.get(name))))
    .sort(([, { size: a }], [, { size: b }]) => b - a)[0];
}
