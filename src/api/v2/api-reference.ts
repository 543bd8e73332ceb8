import type { TSchema } from "typebox";
import type { ApiReference, ReferenceEndpoint, ReferenceField } from "../../http/api-reference.ts";
import { CreatePushFields, NotifyEmailsRequest } from "../../http/push-fields.ts";
import { describedParameters, openApiDocument, withBraces } from "./openapi.ts";
import { type Operation, operations } from "./operations.ts";

/** Describes API v2 for the help page, from the registered operations and the schemas. */
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
    id,
    method,
    summary,
    description,
    scope,
    wrapper,
    path: withBraces(operation.path),
    alsoAt: alsoAt.map(withBraces),
    token: tokenRequirement(access),
    parameters: parameters.map((name) => {
      const parameter = describedParameters[name];
      return { name: parameter.name, type: parameter.in, description: parameter.description };
    }),
    fields: fieldsTaken(operation, wrapper),
    answers: Object.entries(answers).map(([status, answer]) => ({
      status,
      description: answer.description,
      keys: keysOf(answer.schema as SchemaObject),
    })),
  };
}

function fieldsTaken({ takesRecipients = false }: Operation, wrapper: string | null): ReferenceField[] {
  if (takesRecipients) return fieldsOf(NotifyEmailsRequest);
  return wrapper === null ? [] : fieldsOf(CreatePushFields);
}

function tokenRequirement(access: Operation["access"]): ReferenceEndpoint["token"] {
  if (access === "public") return "ignored";
  return access === "api" ? "optional" : "required";
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
