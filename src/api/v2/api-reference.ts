import type { TSchema } from "typebox";
import { type OpenApiOperation, openApiDocument } from "./openapi.ts";
import { CreatePushFields } from "./schemas.ts";

export interface ReferenceField {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

export interface ReferenceEndpoint {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly token: "not looked at" | "optional" | "required";
  /** What a token must allow; null: nothing. */
  readonly scope: string | null;
  /** `type`: path, query or header. */
  readonly parameters: readonly ReferenceField[];
  /** Of the object `push` in the body. */
  readonly fields: readonly ReferenceField[];
  readonly answers: readonly { readonly status: string; readonly description: string; readonly keys: string }[];
}

export interface ApiReference {
  readonly title: string;
  readonly description: string;
  readonly endpoints: readonly ReferenceEndpoint[];
}

/** What the OpenAPI document says, arranged for a reader. */
export function apiReference(): ApiReference {
  const document = openApiDocument();
  const { schemas } = document.components;
  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => describeEndpoint(path, method, operation, schemas)),
  );
  return { title: document.info.title, description: document.info.description, endpoints };
}

function describeEndpoint(
  path: string,
  method: string,
  operation: OpenApiOperation,
  schemas: Readonly<Record<string, TSchema>>,
): ReferenceEndpoint {
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description,
    token: tokenNeed(operation),
    scope: operation.security.flatMap(({ bearer = [] }) => bearer)[0] ?? null,
    parameters: operation.parameters.map(({ name, in: place, description }) => ({ name, type: place, description })),
    fields: operation.requestBody === undefined ? [] : fieldsOf(CreatePushFields),
    answers: Object.entries(operation.responses).map(([status, { description, content }]) => ({
      status,
      description,
      keys: keysOf(resolve(content["application/json"]?.schema, schemas)),
    })),
  };
}

function tokenNeed({ security }: OpenApiOperation): ReferenceEndpoint["token"] {
  if (security.length === 0) return "not looked at";
  return security.some((requirement) => Object.keys(requirement).length === 0) ? "optional" : "required";
}

type Described = { readonly [key: string]: unknown };

function resolve(schema: object | undefined, schemas: Readonly<Record<string, TSchema>>): Described {
  const reference: unknown = schema === undefined ? undefined : Reflect.get(schema, "$ref");
  const name = typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : "";
  return (schemas[name] ?? {}) as Described;
}

function fieldsOf(schema: { readonly properties: Readonly<Record<string, TSchema>> }): ReferenceField[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const { type, enum: choices, description } = property as Described;
    return {
      name,
      type: Array.isArray(choices) ? choices.join(" | ") : String(type),
      description: typeof description === "string" ? description : "",
    };
  });
}

/** The names in an answer, one level deep; a list is shown by its elements' names. */
function keysOf(schema: Described): string {
  if (schema.type === "array") return `[{ ${keysOf(schema.items as Described)} }]`;
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? Object.keys(properties).join(", ") : "";
}
