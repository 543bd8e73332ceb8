import type { FastifyInstance } from "fastify";
import { AppError } from "../../base/errors.ts";
import { sendPage } from "../../http/headers.ts";
import { sendGone } from "../gone/handler.ts";
import { type PageDeps, pageContext, tokenOf } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { deletedView } from "./view.tsx";

export function registerDeletedPage(server: FastifyInstance, deps: PageDeps): void {
  server.post("/p/:token/expire", { config: { access: "page", changesState: true } }, async (request, reply) => {
    const token = tokenOf(request);
    if (token === undefined) return sendGone(request, reply, deps);
    try {
      await deps.pushes.expire(token, request.actor);
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return sendGone(request, reply, deps);
      throw error;
    }
    return sendPage(reply, 200, renderPage(deletedView(pageContext(request, deps, null))));
  });
}
