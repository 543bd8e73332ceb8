import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import type { Config } from "../config/config.ts";
import { sendJsonText } from "../http/headers.ts";
import { operations as requestOperations } from "./requests/operations.ts";
import { operations as v1Operations } from "./v1/operations.ts";
import { requestBodies } from "./v2/bodies.ts";
import type { ApiDeps } from "./v2/handlers.ts";
import { openApiDocument } from "./v2/openapi.ts";
import { type Operation, operations as v2Operations } from "./v2/operations.ts";

/** The one path that accepts requests of pages of other origins. */
const crossOriginPath = "/p.json";

/** Registers both versions of the API. V1 translates its requests and answers to the calls of v2. */
export function registerApi(server: FastifyInstance, deps: ApiDeps): void {
  for (const operation of [...v2Operations, ...(deps.config.requestsEnabled ? requestOperations : [])]) {
    registerOperation(server, operation, [operation.path, `${operation.path}.json`], deps);
  }
  const isClosed = closedPrefixes(deps.config);
  for (const operation of v1Operations) {
    const paths = [operation.path, ...operation.alsoAt].filter((path) => !isClosed.test(path));
    registerOperation(server, operation, paths, deps);
  }
  const document = JSON.stringify(openApiDocument(deps.config));
  server.get(
    "/api/v2/openapi.json",
    { config: { access: "api", group: "internal", scope: null, changesState: false } },
    (_request, reply) => sendJsonText(reply, 200, document),
  );
  server.route({
    method: "OPTIONS",
    url: crossOriginPath,
    config: { access: "public", group: "internal", changesState: false },
    onSend: allowEveryOrigin,
    handler: answerPreflight,
  });
}

/** In v1, the paths of a kind that is switched off do not exist: clients then show a hint. */
function closedPrefixes({ kinds }: Config): RegExp {
  const letters = [...(kinds.file.enabled ? [] : ["f"]), ...(kinds.url.enabled ? [] : ["r"])];
  return new RegExp(`^/[${letters.join("")}](?:/|\\.json$)`);
}

/** @param paths all paths of the endpoint. */
function registerOperation(
  server: FastifyInstance,
  operation: Operation,
  paths: readonly string[],
  deps: ApiDeps,
): void {
  const { method, access, group, scope, changesState, retrieval, body, handler } = operation;
  const streamsFiles = body !== null && requestBodies[body].encodings.includes("multipart/form-data");
  for (const url of paths) {
    server.route({
      method,
      url,
      config: { access, group, changesState, retrieval, streamsFiles, ...(access === "public" ? {} : { scope }) },
      ...(url === crossOriginPath ? { onSend: allowEveryOrigin } : {}),
      handler: (request, reply) => handler(request, reply, deps),
    });
  }
}

/** On refusals too, so that a page of another origin can read the reason. */
const allowEveryOrigin: onSendHookHandler = (_request, reply, payload, done) => {
  reply.header("access-control-allow-origin", "*");
  done(null, payload);
};

/** No credential that a browser adds by itself is read here, so pages of any origin may do what any program may. */
function answerPreflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header("allow", "OPTIONS, POST");
  reply.header("access-control-allow-methods", "POST");
  // The asterisk does not include Authorization (Fetch Standard, CORS non-wildcard request-header name).
  reply.header("access-control-allow-headers", "Authorization, Content-Type, X-User-Email, X-User-Token, *");
  reply.header("access-control-max-age", "600");
  return reply.code(204).send();
}
