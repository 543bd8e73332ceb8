import type { FastifyInstance } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { settingsView } from "./settings-view.tsx";

export function registerSettingsPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(adminPaths.settings, { config: reading }, (request, reply) => {
    const context = pageContext(request, deps, adminPaths.settings);
    return sendPage(reply, 200, renderPage(settingsView(deps.config.origins, context)));
  });
}
