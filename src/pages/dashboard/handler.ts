import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendPage } from "../../http/headers.ts";
import type { OwnedPush } from "../../pushes/pushes.ts";
import { type PageDeps, pageContext, userOf } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { dashboardPath, searchOf, searchPath } from "./filter.ts";
import { dashboardView } from "./view.tsx";

export function registerDashboardPage(server: FastifyInstance, deps: PageDeps): void {
  const config = { access: "page_session", changesState: false } as const;
  server.get(dashboardPath, { config }, (request, reply) => sendDashboard(request, reply, deps));
}

async function sendDashboard(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const search = searchOf(request);
  const found = await deps.pushes.search(userOf(request).id, search);
  const model = {
    search,
    pushes: found.pushes.map((push) => ({ push, link: linkOf(push, request.baseUrl) })),
    hasMore: found.hasMore,
    stopped: found.stopped,
    nowMs: deps.clock.now(),
  };
  return sendPage(reply, 200, renderPage(dashboardView(model, pageContext(request, deps, searchPath(search)))));
}

/** What is handed out. */
export function linkOf(push: Pick<OwnedPush, "urlToken" | "retrievalStep">, baseUrl: string): string {
  return `${baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`;
}
