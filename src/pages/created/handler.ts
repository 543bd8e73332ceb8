import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { findWords } from "../../words/words.ts";
import { sendGone } from "../gone/handler.ts";
import { type PageDeps, pageContext, queryOf, tokenOf } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { mayDelete } from "../secret/handler.ts";
import { createdView } from "./view.tsx";

/** `/p/:token/preview`: the link to hand out, for whoever has it already. It opens nothing and counts nothing. */
export function registerCreatedPage(server: FastifyInstance, deps: PageDeps): void {
  const config = { access: "page", changesState: false } as const;
  server.get("/p/:token/preview", { config }, (request, reply) => show(request, reply, deps));
  server.get("/p/:token/r/preview", { config }, (request, reply) => show(request, reply, deps));
}

async function show(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const token = tokenOf(request);
  const push = token === undefined ? undefined : await deps.pushes.find(token, request.actor);
  if (push === undefined || push.expired) return sendGone(request, reply, deps);
  const previewPath = `/p/${push.urlToken}/preview`;
  const recipientTag = findWords(queryOf(request, "recipient"))?.locale.tag ?? null;
  const model = {
    link: `${request.baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`,
    previewPath,
    recipientTag,
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    passphraseRequired: push.passphraseRequired,
    retrievalStep: push.retrievalStep,
    deletableByViewer: push.deletableByViewer,
    deletePath: mayDelete(push, request.actor) ? `/p/${push.urlToken}/expire` : null,
  };
  const selfPath = recipientTag === null ? previewPath : `${previewPath}?recipient=${recipientTag}`;
  return sendPage(reply, 200, renderPage(createdView(model, pageContext(request, deps, selfPath))));
}
