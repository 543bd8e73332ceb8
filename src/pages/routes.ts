import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { AppError } from "../base/errors.ts";
import { immutableFor } from "../http/headers.ts";
import { registerAccountPages } from "./account/handler.ts";
import { registerAdminPages } from "./admin/handler.ts";
import { registerApiHelpPage } from "./api-help/handler.ts";
import { registerAuditPages } from "./audit/handler.ts";
import { registerConfirmationPages } from "./confirmation/handler.ts";
import { registerCreatedPage } from "./created/handler.ts";
import { showDashboard } from "./dashboard/handler.ts";
import { registerDeletedPage } from "./deleted/handler.ts";
import { registerEditPages } from "./edit-push/handler.ts";
import { registerEmailConfirmationPages } from "./email-confirmation/handler.ts";
import { registerFactorPages } from "./factors/handler.ts";
import { registerFirstRunPage } from "./first-run/handler.ts";
import { registerLegacyLinks } from "./legacy-links.ts";
import { registerNewPushPages } from "./new-push/handler.ts";
import { handlePage, type PageRoute, type PageServices } from "./request.ts";
import { registerResetPasswordPages } from "./reset-password/handler.ts";
import { registerSecondFactorPages } from "./second-factor/handler.ts";
import { registerSecretPages } from "./secret/handler.ts";
import { registerSignInPages } from "./sign-in/handler.ts";
import { registerSignUpPage } from "./sign-up/handler.ts";
import { registerSingleSignOnPages } from "./single-sign-on/handler.ts";
import { registerTokenPages } from "./tokens/handler.ts";

/** Every page: its address, who may request it and what answers. */
const pageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/p", access: "page_session", changesState: false, handler: showDashboard },
];

/** The names that a build gives to assets. Every other name (dots, slashes, a zero byte) is refused without a file access. */
const assetName = /^[\w-]+\.[a-z]+$/i;

function registerRoutes(server: FastifyInstance, services: PageServices): void {
  for (const route of pageRoutes) {
    const { method, path, access, changesState, isEnabled } = route;
    if (isEnabled?.(services.config) === false) continue;
    const { retrieval = false, beforeFactor = false, formInParts = false } = route;
    server.route({
      method,
      url: path,
      config: { access, changesState, retrieval, beforeFactor, formInParts },
      handler: (request, reply) => handlePage(route, request, reply, services),
    });
  }
}

/** Registers every page, and the assets and `robots.txt` that browsers and robots load. */
export async function registerPages(
  server: FastifyInstance,
  deps: PageServices & { readonly assetsDir: string },
): Promise<void> {
  registerRoutes(server, deps);
  registerNewPushPages(server, deps);
  registerCreatedPage(server, deps);
  registerSecretPages(server, deps);
  registerLegacyLinks(server);
  registerDeletedPage(server, deps);
  registerEditPages(server, deps);
  registerAuditPages(server, deps);
  registerSignInPages(server, deps);
  registerFirstRunPage(server, deps);
  registerSignUpPage(server, deps);
  registerConfirmationPages(server, deps);
  registerResetPasswordPages(server, deps);
  registerSecondFactorPages(server, deps);
  registerFactorPages(server, deps);
  registerSingleSignOnPages(server, deps);
  registerAccountPages(server, deps);
  registerEmailConfirmationPages(server, deps);
  registerTokenPages(server, deps);
  registerAdminPages(server, deps);
  registerApiHelpPage(server, deps);
  await server.register(fastifyStatic, { root: deps.assetsDir, serve: false, cacheControl: false });
  server.get<{ Params: { name: string } }>(
    "/assets/:name",
    { config: { access: "public", changesState: false } },
    (request, reply) => {
      const { name } = request.params;
      if (!assetName.test(name)) throw new AppError("not_found", "not-found");
      return immutableFor(reply).sendFile(name);
    },
  );
  server.get("/robots.txt", { config: { access: "public", changesState: false } }, (_request, reply) =>
    reply.type("text/plain; charset=utf-8").send("User-agent: *\nDisallow: /\n"),
  );
}
