import Type, { type TSchema } from "typebox";
import type { Config } from "../../config/config.ts";
import type { BodyType } from "../../http/body/receive-body.ts";
import { pageMax } from "../../http/parameters.ts";
import { operations as requestOperations } from "../requests/operations.ts";
import * as requestSchemas from "../requests/schemas.ts";
import { type RequestBody, requestBodies } from "./bodies.ts";
import { type Operation, operations, type ParameterName } from "./operations.ts";
import * as schemas from "./schemas.ts";

interface OpenApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
}

const namedSchemas: readonly (readonly [name: string, schema: TSchema])[] = [
  ["CreatePushRequest", requestBodies.push.json],
  ["EditPushRequest", requestBodies.edit.json],
  ["Version", schemas.VersionAnswer],
  ["Features", schemas.FeaturesAnswer],
  ["Policy", schemas.PolicyAnswer],
  ["Presets", schemas.PresetsAnswer],
  ["Push", schemas.PushAnswer],
  ["OwnedPush", schemas.OwnedPushAnswer],
  ["CreatedPush", schemas.CreatedPushAnswer],
  ["RetrievedPush", schemas.RetrievedPushAnswer],
  ["PushList", schemas.PushListAnswer],
  ["Preview", schemas.PreviewAnswer],
  ["Audit", schemas.AuditAnswer],
  ["NotifyEmailsRequest", requestBodies.recipients.json],
  ["CreateRequestRequest", requestBodies.request.json],
  ["Request", requestSchemas.RequestAnswer],
  ["OwnedRequest", requestSchemas.OwnedRequestAnswer],
  ["RequestList", requestSchemas.RequestListAnswer],
  ["RequestAnswers", requestSchemas.RequestAnswersAnswer],
  ["AnswerFields", requestBodies.answer.json],
  ["Message", schemas.MessageAnswer],
  ["Error", schemas.ErrorAnswer],
  ["WrongPassphrase", schemas.WrongPassphraseAnswer],
  ["FieldErrors", schemas.FieldErrorsAnswer],
];
const nameOf = new Map(namedSchemas.map(([name, schema]) => [schema, name]));

export const describedParameters: Readonly<Record<ParameterName, OpenApiParameter>> = {
  url_token: {
    name: "url_token",
    in: "path",
    required: true,
    description: "The token in the link of the push or request.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
  },
  page: {
    name: "page",
    in: "query",
    required: false,
    description: "Default 1.",
    schema: { type: "integer", minimum: 1, maximum: pageMax, default: 1 },
  },
  push_locale: {
    name: "push_locale",
    in: "query",
    required: false,
    description:
      "The language of the page behind the links in the answer, such as de or pt-BR; ignored if this server does not have it. A " +
      "creation may also have it in its body, beside the object with the fields.",
    schema: { type: "string" },
  },
  passphrase: {
    name: "passphrase",
    in: "query",
    required: false,
    description:
      "For clients that cannot send a header. Addresses end up in logs: prefer the header, or a passphrase field in the body.",
    schema: { type: "string" },
  },
  "X-Push-Passphrase": {
    name: "X-Push-Passphrase",
    in: "header",
    required: false,
    description: "The push's passphrase, in UTF-8.",
    schema: { type: "string" },
  },
  "X-Request-Proof": {
    name: "X-Request-Proof",
    in: "header",
    required: false,
    description: "For a request that was made without a token: its owner_proof. Keep it secret.",
    schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "A new random text for each request, for example a UUID. Keep it secret: for PWP__CLAIM_RETRY_SECONDS (default 60) " +
      "the same retrieval with the same key gets the same answer again, not counted, and for 24 hours the same creation the " +
      "same push. No key counts two views or creates two pushes. " +
      "A creation without a token ignores it.",
    schema: { type: "string", pattern: "^[!-~]{16,255}$" },
  },
};

const scopeMeanings =
  "Its scopes: create creates pushes and requests, read lists them and their audit logs, edit changes pushes, expire deletes pushes and closes " +
  "requests. Retrieving a push and its preview need none.";

/** What this server has of what can be switched off. */
export type OfferedParts = Pick<Config, "requestsEnabled">;
const everything: OfferedParts = { requestsEnabled: true };

/** The OpenAPI 3.1 document of API v2, from the registered operations and the schemas. Schemas are JSON Schema 2020-12. */
export function openApiDocument({ requestsEnabled }: OfferedParts = everything) {
  const paths: Record<string, Record<string, ReturnType<typeof describeOperation>>> = {};
  for (const operation of [...operations, ...(requestsEnabled ? requestOperations : [])]) {
    const path = withBraces(operation.path);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sealpush API",
      version: "2.1",
      description:
        "Hand over a secret once. Every path is also served with .json appended. Every answer is JSON and has an " +
        "X-Request-Id.",
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: `An API token, created at /users/token. ${scopeMeanings}`,
        },
        userToken: {
          type: "apiKey",
          in: "header",
          name: "X-User-Token",
          description: "The same token. Authorization takes precedence, unless X-User-Email is sent too.",
        },
      },
      schemas: Object.fromEntries(namedSchemas),
    },
  };
}

/** `/p/:url_token` -> `/p/{url_token}`. */
export function withBraces(path: string): string {
  return path.replace(/:([a-z_]+)/g, "{$1}");
}

function describeOperation(operation: Operation) {
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    security: securityOf(operation),
    parameters: operation.parameters.map((name) => describedParameters[name]),
    ...(operation.body === null
      ? {}
      : { requestBody: { required: true, content: contentOf(requestBodies[operation.body]) } }),
    responses: Object.fromEntries(
      Object.entries(operation.answers).map(([status, { description, schema }]) => [
        status,
        { description, content: { "application/json": { schema: reference(schema) } } },
      ]),
    ),
  };
}

/** `{}` means that the token is optional; the list of a scheme names the scopes that the token needs. */
function securityOf({ access, scope }: Operation): readonly Readonly<Record<string, readonly string[]>>[] {
  if (access === "public") return [];
  const scopes = scope === null || scope === "any" ? [] : [scope];
  const withToken = [{ bearer: scopes }, { userToken: scopes }];
  return isTokenOptional(access) ? [{}, ...withToken] : withToken;
}

/** On some servers; others require a token there. */
export function isTokenOptional(access: Operation["access"]): boolean {
  return access === "api" || access === "api_requester";
}

function contentOf({ wrapper, fields, json, encodings }: RequestBody) {
  const prefixed = (name: string) => (wrapper === null ? name : `${wrapper}[${name}]`);
  const inForms = Object.entries(fields.properties).filter(([name]) => name !== "files");
  const properties = Object.fromEntries(inForms.map(([name, schema]) => [prefixed(name), schema]));
  const file = { type: "string", contentMediaType: "application/octet-stream" };
  const files = { [`${prefixed("files")}[]`]: { type: "array", items: file } };
  const schemaOf = (encoding: BodyType) => {
    if (encoding === "multipart/form-data") return { type: "object", properties: { ...properties, ...files } };
    const isPrefixed = encoding === "application/x-www-form-urlencoded" && wrapper !== null;
    return isPrefixed ? { type: "object", properties } : reference(json);
  };
  return Object.fromEntries(encodings.map((encoding) => [encoding, { schema: schemaOf(encoding) }]));
}

/** A schema without a name is described where it is used. */
function reference(schema: TSchema): object {
  const name = nameOf.get(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return Type.IsUnion(schema) ? { anyOf: schema.anyOf.map(reference) } : schema;
}
