import type { FastifyInstance } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { sendGone } from "../gone/handler.ts";
import { type PageDeps, pageContext, tokenOf } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { deletedView } from "./view.tsx";

export function registerDeletedPage(server: FastifyInstance, deps: PageDeps): void {
  server.post("/p/:token/expire", { config: { access: "page", changesState: true } }, async (request, reply) => {
    const token = tokenOf(request);
    // A push that has ended already is answered like one that never was: pressing delete tells nothing.
    const push = token === undefined ? undefined : await deps.pushes.find(token, request.actor);
    if (push === undefined || push.expired) return sendGone(request, reply, deps);
    await deps.pushes.expire(push.urlToken, request.actor);
    return sendPage(reply, 200, renderPage(deletedView(pageContext(request, deps, null))));
  });
}
