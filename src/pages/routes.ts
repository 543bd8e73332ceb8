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
import { registerDashboardPage } from "./dashboard/handler.ts";
import { registerDeletedPage } from "./deleted/handler.ts";
import { registerEditPages } from "./edit-push/handler.ts";
import { registerEmailConfirmationPages } from "./email-confirmation/handler.ts";
import { registerFactorPages } from "./factors/handler.ts";
import { registerFirstRunPage } from "./first-run/handler.ts";
import { registerLegacyLinks } from "./legacy-links.ts";
import { registerNewPushPages } from "./new-push/handler.ts";
import type { PageDeps } from "./page-scope.ts";
import { registerResetPasswordPages } from "./reset-password/handler.ts";
import { registerSecondFactorPages } from "./second-factor/handler.ts";
import { registerSecretPages } from "./secret/handler.ts";
import { registerSignInPages } from "./sign-in/handler.ts";
import { registerSignUpPage } from "./sign-up/handler.ts";
import { registerSingleSignOnPages } from "./single-sign-on/handler.ts";
import { registerTokenPages } from "./tokens/handler.ts";

/** Names a build gives. What else stands there - dots, slashes, a zero byte - is not worth a look at the disk. */
const assetName = /^[\w-]+\.[a-z]+$/i;

/** Everything that people look at, and the files that browsers load for it. */
export async function registerPages(
  server: FastifyInstance,
  deps: PageDeps & { readonly assetsDir: string },
): Promise<void> {
  registerNewPushPages(server, deps);
  registerCreatedPage(server, deps);
  registerSecretPages(server, deps);
  registerLegacyLinks(server);
  registerDeletedPage(server, deps);
  registerEditPages(server, deps);
  registerDashboardPage(server, deps);
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
