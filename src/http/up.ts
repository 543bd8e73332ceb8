import type { FastifyInstance, FastifyReply } from "fastify";
import { unavailable, unreachable } from "../base/errors.ts";
import { sendJson } from "./headers.ts";
import type { Readiness } from "./readiness.ts";

const retryAfterSeconds = 5;

/**
 * `GET /up`: 200 as long as the process answers at all; whoever gets no answer restarts it. `GET /ready`: 200 when
 * requests can be served here, 503 when they had better go elsewhere.
 */
export function registerUp(server: FastifyInstance, deps: { readonly readiness: Readiness }): void {
  const config = { access: "public", changesState: false } as const;
  server.get("/up", { config }, (_request, reply) => {
    sendJson(reply, 200, { status: "up" });
  });
  server.get("/ready", { config }, async (_request, reply): Promise<FastifyReply> => {
    const readiness = await deps.readiness.check();
    switch (readiness.state) {
      case "ready":
        return sendJson(reply, 200, { status: "ready" });
      case "draining":
        // As it should be, so it leaves no line in the log.
        reply.header("retry-after", String(retryAfterSeconds));
        return sendJson(reply, 503, { error: "The server is stopping." });
      case "database_silent":
        throw unavailable("The database does not answer.", retryAfterSeconds, readiness.cause);
      default:
        return unreachable(readiness);
    }
  });
}
