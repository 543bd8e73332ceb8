import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import type { ApiReference } from "../../http/api-reference.ts";
import { describeEndpoint } from "../v2/api-reference.ts";
import type { ApiDeps } from "../v2/handlers.ts";
import { operations } from "./operations.ts";

/** The one path that accepts requests of pages of other origins. */
const crossOriginPath = "/p.json";

/** API v1 translates its requests and answers to the calls of API v2. */
export function registerApiV1(server: FastifyInstance, deps: ApiDeps): void {
  for (const { method, path, alsoAt, access, scope, changesState, retrieval, handler } of operations) {
    for (const url of [path, ...alsoAt]) {
      server.route({
        method,
        url,
        config: { access, changesState, retrieval, ...(access === "public" ? {} : { scope }) },
        ...(url === crossOriginPath ? { onSend: allowEveryOrigin } : {}),
        handler: (request, reply) => handler(request, reply, deps),
      });
    }
  }
  server.route({
    method: "OPTIONS",
    url: crossOriginPath,
    config: { access: "public", changesState: false },
    onSend: allowEveryOrigin,
    handler: answerPreflight,
  });
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

/** Describes API v1 for the help page, from the registered operations and the validating schemas. */
export function v1ApiReference(): ApiReference {
  return {
    title: "Sealpush API v1",
    description:
      "The older API, for existing clients. New clients should use API v2. Every answer is JSON, regardless of " +
      "Accept, and has an X-Request-Id.",
    endpoints: operations.map((operation) => describeEndpoint(operation, operation.wrapper, operation.alsoAt)),
  };
}
