import type { FastifyReply, FastifyRequest } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { goneView } from "./view.tsx";

/** Expired, deleted and unknown are told apart by nothing: same status, same body. */
export function sendGone(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): FastifyReply {
  return sendPage(reply, 404, renderPage(goneView(pageContext(request, deps, null))));
}
