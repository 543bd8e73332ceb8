import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { sendGone } from "../gone/handler.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, tokenOf } from "../page-scope.ts";
import { ownPath } from "../return-path.ts";
import { isOwn } from "../secret/handler.ts";
import { deletedView } from "./view.tsx";

export function registerDeletedPage(server: FastifyInstance, deps: PageDeps): void {
  server.post("/p/:token/expire", { config: { access: "page", changesState: true } }, (request, reply) =>
    endPush(request, reply, deps),
  );
}

async function endPush(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const { next } = await receiveForm(request, deps.bodyBudget);
  const token = tokenOf(request);
  const push = token === undefined ? undefined : await deps.pushes.find(token, request.actor);
  // Only owners come from lists of theirs, and only they may hear that it had ended already.
  const back = push !== undefined && isOwn(push, request.actor) && typeof next === "string" ? ownPath(next) : null;
  // To anybody else, a push that has ended already is answered like one that never was: pressing delete tells nothing.
  if (push === undefined || (push.expired && back === null)) return sendGone(request, reply, deps);
  if (!push.expired) await deps.pushes.expire(push.urlToken, request.actor);
  const page = pageContext(request, deps, null);
  if (back !== null) return goTo(back, request, reply, deps);
  return sendPage(reply, 200, renderPage(deletedView(page)));
}
