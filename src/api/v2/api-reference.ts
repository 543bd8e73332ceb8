import type { TSchema } from "typebox";
import type { ApiReference, ReferenceEndpoint, ReferenceField } from "../../http/api-reference.ts";
import { CreatePushFields, NotifyEmailsRequest } from "../../http/push-fields.ts";
import { describeParameter, openApiDocument, withBraces } from "./openapi.ts";
import { type Operation, operations } from "./operations.ts";

/** What the OpenAPI document says, arranged for a reader. */
export function apiReference(): ApiReference {
  const { title, description } = openApiDocument().info;
  const endpoints = operations.map((operation) => describeEndpoint(operation, operation.takesPush ? "push" : null, []));
  return { title, description, endpoints };
}

export function describeEndpoint(
  operation: Operation,
  wrapper: string | null,
  alsoAt: readonly string[],
): ReferenceEndpoint {
  const { id, method, summary, description, access, scope, parameters, answers } = operation;
  return {
    ...{ id, method, summary, description, scope, wrapper },
    path: withBraces(operation.path),
    alsoAt: alsoAt.map(withBraces),
    token: tokenNeed(access),
    parameters: parameters.map(describeParameter).map(({ name, in: place, description: meaning }) => ({
      ...{ name, type: place, description: meaning },
    })),
    fields: fieldsTaken(operation, wrapper),
    answers: Object.entries(answers).map(([status, { description: meaning, schema }]) => ({
      ...{ status, description: meaning, keys: keysOf(schema as Described) },
    })),
  };
}

function fieldsTaken({ takesRecipients = false }: Operation, wrapper: string | null): ReferenceField[] {
  if (takesRecipients) return fieldsOf(NotifyEmailsRequest);
  return wrapper === null ? [] : fieldsOf(CreatePushFields);
}

function tokenNeed(access: Operation["access"]): ReferenceEndpoint["token"] {
  if (access === "public") return "not looked at";
  return access === "api" ? "optional" : "required";
}

type Described = { readonly [key: string]: unknown };

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
