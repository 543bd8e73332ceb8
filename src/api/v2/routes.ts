import type { FastifyInstance } from "fastify";
import { sendJsonText } from "../../http/headers.ts";
import type { ApiDeps } from "./handlers.ts";
import { openApiDocument } from "./openapi.ts";
import { operations } from "./operations.ts";

/** API v2: each operation at its path and at the path with `.json`. */
export function registerApiV2(server: FastifyInstance, deps: ApiDeps): void {
  for (const operation of operations.filter(({ isServed }) => isServed?.(deps.config) ?? true)) {
    const { method, path, access, scope, changesState, retrieval, handler } = operation;
    for (const url of [path, `${path}.json`]) {
      server.route({
        method,
        url,
        config: { access, changesState, retrieval, ...(access === "public" ? {} : { scope }) },
        handler: (request, reply) => handler(request, reply, deps),
      });
    }
  }
  const document = JSON.stringify(openApiDocument());
  server.get(
    "/api/v2/openapi.json",
    { config: { access: "api", scope: null, changesState: false } },
    (_request, reply) => {
      sendJsonText(reply, 200, document);
    },
  );
}
