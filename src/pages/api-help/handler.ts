import type { FastifyInstance } from "fastify";
import { apiReference } from "../../api/v2/api-reference.ts";
import { sendPage } from "../../http/headers.ts";
import { type FrameDeps, pageContext } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { apiHelpView } from "./view.tsx";

/** `GET /help/api`: the description of API v2 for a reader. */
export function registerApiHelpPage(server: FastifyInstance, deps: FrameDeps): void {
  const reference = apiReference();
  server.get("/help/api", { config: { access: "page", changesState: false } }, (request, reply) => {
    const page = pageContext(request, deps, "/help/api");
    return sendPage(reply, 200, renderPage(apiHelpView({ reference, baseUrl: request.baseUrl }, page)));
  });
}
