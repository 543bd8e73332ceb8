import type { TObject, TSchema } from "typebox";
import type { ApiReference, ReferenceEndpoint, ReferenceField } from "../http/api-reference.ts";
import { operations as requestOperations } from "./requests/operations.ts";
import { operations as v1Operations } from "./v1/operations.ts";
import { requestBodies } from "./v2/bodies.ts";
import { describedParameters, isTokenOptional, type OfferedParts, openApiDocument, withBraces } from "./v2/openapi.ts";
import { type Operation, operations as v2Operations } from "./v2/operations.ts";

/** Describes both versions of the API for the help pages, from the registered operations and the validating schemas. */
export function apiReference(offered: OfferedParts): Record<"v1" | "v2", ApiReference> {
  const { title, description } = openApiDocument(offered).info;
  return {
    v1: {
      title: "Sealpush API v1",
      description:
        "The older API, for existing clients. New clients should use API v2. Every answer is JSON, regardless of " +
        "Accept, and has an X-Request-Id.",
      endpoints: v1Operations.map((operation) => describeEndpoint(operation, operation, operation.alsoAt)),
    },
    v2: {
      title,
      description,
      endpoints: [...v2Operations, ...(offered.requestsEnabled ? requestOperations : [])].map((operation) =>
        describeEndpoint(operation, operation.body === null ? nothing : requestBodies[operation.body], []),
      ),
    },
  };
}

/** What a body has; `wrapper`: the object that holds the fields. */
interface Taken {
  readonly wrapper: string | null;
  readonly fields: TObject | null;
}

const nothing: Taken = { wrapper: null, fields: null };

function describeEndpoint(
  operation: Operation,
  { wrapper, fields }: Taken,
  alsoAt: readonly string[],
): ReferenceEndpoint {
  const { id, method, summary, description, access, scope, parameters, answers } = operation;
  return {
    id,
    method,
    summary,
    description,
    scope: scope === "any" ? null : scope,
    wrapper,
    path: withBraces(operation.path),
    alsoAt: alsoAt.map(withBraces),
    token: tokenRequirement(access),
    parameters: parameters.map((name) => {
      const parameter = describedParameters[name];
      return { name: parameter.name, type: parameter.in, description: parameter.description };
    }),
    fields: fields === null ? [] : fieldsOf(fields),
    answers: Object.entries(answers).map(([status, answer]) => ({
      status,
      description: answer.description,
      keys: keysOf(answer.schema as SchemaObject),
    })),
  };
}

function tokenRequirement(access: Operation["access"]): ReferenceEndpoint["token"] {
  if (access === "public") return "ignored";
  return isTokenOptional(access) ? "optional" : "required";
}

type SchemaObject = { readonly [key: string]: unknown };

function fieldsOf(schema: { readonly properties: Readonly<Record<string, TSchema>> }): ReferenceField[] {
  return Object.entries(schema.properties).map(([name, property]) => {
    const { type, enum: choices, description } = property as SchemaObject;
    return {
      name,
      type: Array.isArray(choices) ? choices.join(" | ") : String(type),
      description: typeof description === "string" ? description : "",
    };
  });
}

/** The keys of an answer, one level deep; for a list, the keys of its elements. */
function keysOf(schema: SchemaObject): string {
  if (schema.type === "array") return `[{ ${keysOf(schema.items as SchemaObject)} }]`;
  const { properties } = schema;
  return typeof properties === "object" && properties !== null ? Object.keys(properties).join(", ") : "";
}
