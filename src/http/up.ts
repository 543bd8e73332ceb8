import type { FastifyInstance } from "fastify";
import { unavailable } from "../base/errors.ts";
import { sendJson } from "./headers.ts";

export interface UpDeps {
  /** Whether requests can be served now: the database answers. */
  readonly canServe: () => Promise<boolean>;
}

/** `GET /up`: 200 when the server can serve, 503 when not; for load balancers and watchdogs. */
export function registerUp(server: FastifyInstance, deps: UpDeps): void {
  server.get("/up", { config: { access: "public", changesState: false } }, async (_request, reply) => {
    if (!(await deps.canServe())) throw unavailable("The server cannot serve now.", 5);
    return sendJson(reply, 200, { status: "up" });
  });
}
