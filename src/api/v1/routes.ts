import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import type { ApiDeps } from "../v2/handlers.ts";
import { operations } from "./operations.ts";

const openPath = "/p.json";

/** API v1, a translation onto what API v2 calls. */
export function registerApiV1(server: FastifyInstance, deps: ApiDeps): void {
  for (const { method, path, alsoAt, access, scope, changesState, retrieval, handler } of operations) {
    for (const url of [path, ...alsoAt]) {
      server.route({
        method,
        url,
        config: { access, changesState, retrieval, ...(access === "public" ? {} : { scope }) },
        ...(url === openPath ? { onSend: allowEveryOrigin } : {}),
        handler: (request, reply) => handler(request, reply, deps),
      });
    }
  }
  server.route({
    method: "OPTIONS",
    url: openPath,
    config: { access: "public", changesState: false },
    onSend: allowEveryOrigin,
    handler: answerPreflight,
  });
}

/** Refusals too: a page of another origin could not read what was wrong. */
const allowEveryOrigin: onSendHookHandler = (_request, reply, payload, done) => {
  reply.header("access-control-allow-origin", "*");
  done(null, payload);
};

/** Nothing here counts that a browser adds by itself, so a page of any origin may do what any program may. */
function answerPreflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header("allow", "OPTIONS, POST");
  reply.header("access-control-allow-methods", "POST");
  // The asterisk does not stand for Authorization (Fetch Standard, CORS-unsafe header names).
  reply.header("access-control-allow-headers", "Authorization, Content-Type, X-User-Email, X-User-Token, *");
  reply.header("access-control-max-age", "600");
  return reply.code(204).send();
}
