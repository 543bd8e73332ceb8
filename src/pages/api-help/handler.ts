import type { FastifyInstance, FastifyReply } from "fastify";
import { sendPage } from "../../http/headers.ts";
import type { PageContext } from "../page.ts";
import { renderPage } from "../page.ts";
import { type FrameDeps, type PageDeps, pageContext } from "../page-scope.ts";
import { type ApiHelpModel, apiHelpView } from "./view.tsx";

/** `GET /help/api` describes API v2 for a reader, `GET /api` the older API v1. */
export function registerApiHelpPage(server: FastifyInstance, deps: FrameDeps & Pick<PageDeps, "apiReference">): void {
  server.get("/help/api", { config: { access: "page", changesState: false } }, (request, reply) => {
    const model = { version: "v2", reference: deps.apiReference.v2, baseUrl: request.baseUrl } as const;
    return sendHelp(reply, model, pageContext(request, deps, "/help/api"));
  });
  // An address of the API, so no cookie is read there: whether somebody is signed in is not known, and not asked.
  server.get("/api", { config: { access: "public", changesState: false } }, (request, reply) => {
    const model = { version: "v1", reference: deps.apiReference.v1, baseUrl: request.baseUrl } as const;
    return sendHelp(reply, model, { ...pageContext(request, deps, "/api"), signIns: false });
  });
}

function sendHelp(reply: FastifyReply, model: ApiHelpModel, page: PageContext): FastifyReply {
  return sendPage(reply, 200, renderPage(apiHelpView(model, page)));
}
