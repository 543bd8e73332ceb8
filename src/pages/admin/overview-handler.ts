import type { FastifyInstance } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { overviewView } from "./overview-view.tsx";

export function registerOverviewPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(adminPaths.overview, { config: reading }, async (request, reply) => {
    const [health, pushes, mails] = await Promise.all([deps.health(), deps.pushes.totals(), deps.mail.sizes()]);
    const model = { version: deps.version, health, pushes, mails };
    return sendPage(reply, 200, renderPage(overviewView(model, pageContext(request, deps, adminPaths.overview))));
  });
}
