import type { FastifyInstance } from "fastify";
import type { PageDeps } from "../page-scope.ts";
import { registerMailsPage } from "./mails-handler.ts";
import { registerOverviewPage } from "./overview-handler.ts";
import { registerAdminPushesPage } from "./pushes-handler.ts";
import { registerSettingsPage } from "./settings-handler.ts";
import { registerThemePages } from "./theme-handler.ts";
import { registerTrailPage } from "./trail-handler.ts";
import { registerUsersPage } from "./users-handler.ts";

/** For administrators alone; others find no such pages. */
export function registerAdminPages(server: FastifyInstance, deps: PageDeps): void {
  registerOverviewPage(server, deps);
  registerUsersPage(server, deps);
  registerAdminPushesPage(server, deps);
  registerMailsPage(server, deps);
  registerSettingsPage(server, deps);
  registerThemePages(server, deps);
  registerTrailPage(server, deps);
}
