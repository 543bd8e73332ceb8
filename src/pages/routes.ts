import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { AppError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { immutableFor } from "../http/headers.ts";
import { registerAccountPages } from "./account/handler.ts";
import { registerAdminPages } from "./admin/handler.ts";
import { showApiHelp, showApiV1Help } from "./api-help/api-help.tsx";
import { downloadAudit, showAudit } from "./audit/handler.ts";
import { registerConfirmationPages } from "./confirmation/handler.ts";
import { mailLink, showCreated } from "./created/handler.ts";
import { showDashboard } from "./dashboard/handler.ts";
import { deletePush } from "./deleted.tsx";
import { saveEdit, showEdit } from "./edit-push/handler.ts";
import { registerEmailConfirmationPages } from "./email-confirmation/handler.ts";
import { registerFactorPages } from "./factors/handler.ts";
import { registerFirstRunPage } from "./first-run/handler.ts";
import { legacyLinks } from "./legacy-links.ts";
import { createPush, showNewPush } from "./new-push/handler.ts";
import { handlePage, type PageRoute, type PageServices } from "./request.ts";
import { registerResetPasswordPages } from "./reset-password/handler.ts";
import { registerSecondFactorPages } from "./second-factor/handler.ts";
import { claimByForm, showPush } from "./secret/handler.ts";
import { registerSignInPages } from "./sign-in/handler.ts";
import { registerSignUpPage } from "./sign-up/handler.ts";
import { registerSingleSignOnPages } from "./single-sign-on/handler.ts";
import { registerTokenPages } from "./tokens/handler.ts";

const mailsLinks = (config: Config) => config.linkDeliveries.enabled;

/** Every page: its address, who may request it and what answers. */
const pageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/", access: "page_creator", changesState: false, handler: showNewPush },
  { method: "GET", path: "/p/new", access: "page_creator", changesState: false, handler: showNewPush },
  { method: "POST", path: "/p", access: "page_creator", changesState: true, formInParts: true, handler: createPush },
  { method: "GET", path: "/p", access: "page_session", changesState: false, handler: showDashboard },
  {
    method: "GET",
    path: "/p/:token",
    access: "page",
    changesState: false,
    handler: (page) => showPush(page, { asksForStep: false }),
    retrieval: true,
  },
  {
    method: "POST",
    path: "/p/:token",
    access: "page",
    changesState: true,
    handler: (page) => claimByForm(page, { asksForStep: false }),
    retrieval: true,
  },
  {
    method: "GET",
    path: "/p/:token/r",
    access: "page",
    changesState: false,
    handler: (page) => showPush(page, { asksForStep: true }),
    retrieval: true,
  },
  {
    method: "POST",
    path: "/p/:token/r",
    access: "page",
    changesState: true,
    handler: (page) => claimByForm(page, { asksForStep: true }),
    retrieval: true,
  },
  { method: "GET", path: "/p/:token/preview", access: "page", changesState: false, handler: showCreated },
  { method: "GET", path: "/p/:token/r/preview", access: "page", changesState: false, handler: showCreated },
  {
    method: "POST",
    path: "/p/:token/notify_emails",
    access: "page_session",
    changesState: true,
    handler: mailLink,
    isEnabled: mailsLinks,
  },
  { method: "POST", path: "/p/:token/expire", access: "page", changesState: true, handler: deletePush },
  { method: "GET", path: "/p/:token/edit", access: "page_session", changesState: false, handler: showEdit },
  {
    method: "POST",
    path: "/p/:token/edit",
    access: "page_session",
    changesState: true,
    formInParts: true,
    handler: saveEdit,
  },
  { method: "GET", path: "/p/:token/audit", access: "page_session", changesState: false, handler: showAudit },
  {
    method: "GET",
    path: "/p/:token/audit/download",
    access: "page_session",
    changesState: false,
    handler: downloadAudit,
  },
  { method: "GET", path: "/help/api", access: "page", changesState: false, handler: showApiHelp },
  { method: "GET", path: "/api", access: "public", changesState: false, handler: showApiV1Help },
  ...legacyLinks,
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
