import type { FastifyInstance } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { pageOf } from "../../http/parameters.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { trailView } from "./trail-view.tsx";

export function registerTrailPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(adminPaths.trail, { config: reading }, async (request, reply) => {
    const page = pageOf(request);
    const model = { page, entries: await deps.accounts.listAdminEntries(page), nowMs: deps.clock.now() };
    return sendPage(reply, 200, renderPage(trailView(model, pageContext(request, deps, adminPaths.trail))));
  });
}
