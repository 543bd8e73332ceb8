import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { breakGlassPath, signOnSettingsPath } from "../accounts/accounts.ts";
import { AppError } from "../base/errors.ts";
import type { Config } from "../config/config.ts";
import { secondFactorPath, signInPath } from "../http/authentication.ts";
import { builtScripts } from "../http/built-assets.ts";
import { immutableFor, indexablePaths } from "../http/headers.ts";
import { showAbout } from "./about/about.tsx";
import { aboutPath } from "./about/path.ts";
import { downloadData } from "./account/data.ts";
import {
  accountDeletedPath,
  changeDefaults,
  changeEmail,
  changeLanguage,
  changePassword,
  deleteAccount,
  endOtherSessions,
  endSession,
  requestOwnConfirmation,
  showAccount,
  showAccountDeleted,
} from "./account/handler.ts";
import { accountPath } from "./account/path.ts";
import { adminRoutes } from "./admin/routes.ts";
import { sendBrandingFile } from "./admin/theme.tsx";
import { showApiHelp, showApiV1Help } from "./api-help/api-help.tsx";
import { downloadAudit, showAudit } from "./audit/handler.ts";
import { chooseTheme } from "./choose-theme.ts";
import {
  confirmAccount,
  confirmationPath,
  newConfirmationPath,
  requestConfirmation,
  showConfirmation,
  showNewConfirmation,
} from "./confirmation.tsx";
import { downloadCode, mailLink, showCreated, showOpened } from "./created/handler.ts";
import { deletePath, deleteSelected } from "./dashboard/deletion.tsx";
import { showDashboard } from "./dashboard/handler.ts";
import { deletePush } from "./deleted.tsx";
import { returnEdit, saveEdit, showEdit } from "./edit-push/handler.ts";
import {
  confirmNewEmail,
  emailConfirmedPath,
  newEmailPath,
  showEmailConfirmation,
  showEmailConfirmed,
} from "./email-confirmation.tsx";
import { ifSignInEnabled, ifSignUpEnabled, renderClosed } from "./entry.tsx";
import { passkeySignInOptionsPath, passkeySignInPath, secondFactorOptionsPath } from "./factors/paths.ts";
import { factorRoutes } from "./factors/routes.ts";
import { createFirstAdministrator, firstRunPath, showFirstRun } from "./first-run.tsx";
import { createPush, showAnother, showNewPush, showShared } from "./new-push/handler.ts";
import { oldAddressRoutes, withOldParameters } from "./old-addresses.ts";
import { brandingPath } from "./parts/logo.tsx";
import { handlePage, PageRequest, type PageRoute, type PageServices } from "./request.ts";
import { requestRoutes } from "./requests/routes.ts";
import {
  requestReset,
  requestResetPath,
  resetPassword,
  resetPasswordPath,
  showRequestReset,
  showResetPassword,
} from "./reset-password.tsx";
import { checkSecondFactor, offerSecondFactorPasskeys, showSecondFactor } from "./second-factor/handler.ts";
import { offerPasskeySignIn, signInByPasskey } from "./second-factor/passkey-sign-in.tsx";
import { claimByForm, showPush } from "./secret/handler.ts";
import { showSignIn, showSignOut, signIn, signOut, signOutPath } from "./sign-in/handler.ts";
import { showSignUp, signUp, signUpPath } from "./sign-up.tsx";
import { enterByBreakGlass, showBreakGlass } from "./single-sign-on/break-glass.tsx";
import {
  backchannelLogout,
  beginLink,
  beginProof,
  beginSignIn,
  completeSignOn,
  confirmLink,
  giveCode,
  mailLinkToConfirm,
  showCode,
  showConfirmLink,
  showSignOnSettings,
  signOnPath,
  unlinkIdentities,
} from "./single-sign-on/handler.ts";
import { confirmLinkPath, mailLinkPath, signOnCodePath } from "./single-sign-on/views.tsx";
import { themeChoicePath } from "./theme-choice.ts";
import { createToken, revokeToken, showTokens } from "./tokens/handler.ts";
import { tokensPath } from "./tokens/model.ts";
import { uploadRoutes } from "./uploads.ts";
import { sharePath, webAppRoutes } from "./web-app.ts";

/** Open where single sign-on is the only way in. */
const entryBySignOn = { group: "internal", access: "page_entry", withSignOnOnly: true } as const;

const mailsLinks = (config: Config) => config.linkDeliveries.enabled;

/** Every page: its address, who may request it and what answers. */
const pageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/", group: "internal", access: "page_creator", handler: withOldParameters(showNewPush) },
  { method: "GET", path: "/p/new", group: "internal", access: "page_creator", handler: withOldParameters(showNewPush) },
  {
    method: "POST",
    path: "/p",
    group: "internal",
    access: "page_creator",
    handler: createPush,
    streamsFiles: true,
    keepsTyped: true,
  },
  {
    method: "POST",
    path: sharePath,
    group: "internal",
    access: "page_creator",
    changesNothing: true,
    handler: showShared,
  },
  ...uploadRoutes,
  { method: "GET", path: "/p", group: "internal", access: "page_session", handler: withOldParameters(showDashboard) },
  {
    method: "POST",
    path: deletePath,
    group: "internal",
    access: "page_session",
    handler: deleteSelected,
    retrieval: true,
  },
  {
    method: "GET",
    path: "/p/:token",
    group: "recipient",
    access: "page",
    handler: (page) => showPush(page, { asksForStep: false }),
    retrieval: true,
  },
  {
    method: "POST",
    path: "/p/:token",
    group: "recipient",
    access: "page",
    handler: (page) => claimByForm(page, { asksForStep: false }),
    retrieval: true,
  },
  {
    method: "GET",
    path: "/p/:token/r",
    group: "recipient",
    access: "page",
    handler: (page) => showPush(page, { asksForStep: true }),
    retrieval: true,
  },
  {
    method: "POST",
    path: "/p/:token/r",
    group: "recipient",
    access: "page",
    handler: (page) => claimByForm(page, { asksForStep: true }),
    retrieval: true,
  },
  { method: "GET", path: "/p/:token/preview", group: "internal", access: "page", handler: showCreated },
  { method: "GET", path: "/p/:token/r/preview", group: "internal", access: "page", handler: showCreated },
  { method: "GET", path: "/p/:token/preview/qr", group: "internal", access: "page", handler: downloadCode },
  { method: "GET", path: "/p/:token/preview/opened", group: "internal", access: "page_session", handler: showOpened },
  {
    method: "POST",
    path: "/p/:token/notify_emails",
    group: "internal",
    access: "page_session",
    handler: mailLink,
    isEnabled: mailsLinks,
  },
  {
    method: "POST",
    path: "/p/:token/expire",
    group: "recipient",
    access: "page",
    handler: deletePush,
    retrieval: true,
  },
  { method: "GET", path: "/p/:token/another", group: "internal", access: "page_session", handler: showAnother },
  { method: "GET", path: "/p/:token/edit", group: "internal", access: "page_session", handler: showEdit },
  {
    method: "POST",
    path: "/p/:token/edit",
    group: "internal",
    access: "page_session",
    streamsFiles: true,
    keepsTyped: true,
    handler: saveEdit,
    whenSignedOut: returnEdit,
  },
  { method: "GET", path: "/p/:token/audit", group: "internal", access: "page_session", handler: showAudit },
  {
    method: "GET",
    path: "/p/:token/audit/download",
    group: "internal",
    access: "page_session",
    handler: downloadAudit,
  },
  { method: "GET", path: aboutPath, group: "recipient", access: "page", handler: showAbout },
  ...requestRoutes,
  { method: "GET", path: "/help/api", group: "internal", access: "page", handler: showApiHelp },
  { method: "GET", path: "/api", group: "internal", access: "public", handler: showApiV1Help },
  { ...entryBySignOn, method: "GET", path: signInPath, handler: ifSignInEnabled(showSignIn) },
  {
    method: "POST",
    path: signInPath,
    group: "internal",
    access: "page_entry",
    keepsTyped: true,
    handler: ifSignInEnabled(signIn),
  },
  {
    method: "POST",
    path: passkeySignInOptionsPath,
    group: "internal",
    access: "page_entry",
    handler: offerPasskeySignIn,
  },
  { method: "POST", path: passkeySignInPath, group: "internal", access: "page_entry", handler: signInByPasskey },
  { method: "GET", path: secondFactorPath, group: "internal", access: "page_waiting", handler: showSecondFactor },
  { method: "POST", path: secondFactorPath, group: "internal", access: "page_waiting", handler: checkSecondFactor },
  {
    method: "POST",
    path: secondFactorOptionsPath,
    group: "internal",
    access: "page_waiting",
    handler: offerSecondFactorPasskeys,
  },
  { ...entryBySignOn, method: "POST", path: signOnPath, handler: beginSignIn },
  {
    method: "GET",
    path: `${signOnPath}/callback`,
    group: "internal",
    access: "page",
    handler: completeSignOn,
    retrieval: true,
  },
  {
    method: "POST",
    path: `${signOnPath}/backchannel-logout`,
    group: "internal",
    access: "public",
    handler: backchannelLogout,
  },
  { ...entryBySignOn, method: "GET", path: confirmLinkPath, handler: showConfirmLink },
  { ...entryBySignOn, method: "POST", path: confirmLinkPath, handler: confirmLink },
  { ...entryBySignOn, method: "POST", path: mailLinkPath, handler: mailLinkToConfirm },
  { ...entryBySignOn, method: "GET", path: breakGlassPath, handler: showBreakGlass },
  { ...entryBySignOn, method: "POST", path: breakGlassPath, handler: enterByBreakGlass },
  { method: "GET", path: signOnSettingsPath, group: "internal", access: "page_session", handler: showSignOnSettings },
  { method: "POST", path: `${signOnSettingsPath}/link`, group: "internal", access: "page_session", handler: beginLink },
  {
    method: "POST",
    path: `${signOnSettingsPath}/again`,
    group: "internal",
    access: "page_session",
    handler: beginProof,
  },
  { method: "GET", path: signOnCodePath, group: "internal", access: "page_session", handler: showCode },
  { method: "POST", path: signOnCodePath, group: "internal", access: "page_session", handler: giveCode },
  {
    method: "POST",
    path: `${signOnSettingsPath}/unlink`,
    group: "internal",
    access: "page_session",
    withSignOnOnly: false,
    handler: unlinkIdentities,
  },
  { method: "GET", path: signOutPath, group: "internal", access: "page", handler: showSignOut },
  { method: "POST", path: signOutPath, group: "internal", access: "page", handler: signOut },
  {
    method: "GET",
    path: firstRunPath,
    group: "internal",
    access: "page_entry",
    handler: ifSignInEnabled(showFirstRun),
  },
  {
    method: "POST",
    path: firstRunPath,
    group: "internal",
    access: "page_entry",
    handler: ifSignInEnabled(createFirstAdministrator),
  },
  {
    method: "GET",
    path: signUpPath,
    group: "internal",
    access: "page_entry",
    handler: ifSignUpEnabled(showSignUp),
  },
  {
    method: "POST",
    path: signUpPath,
    group: "internal",
    access: "page_entry",
    keepsTyped: true,
    handler: ifSignUpEnabled(signUp),
  },
  { ...entryBySignOn, method: "GET", path: confirmationPath, handler: ifSignInEnabled(showConfirmation) },
  { ...entryBySignOn, method: "POST", path: confirmationPath, handler: ifSignInEnabled(confirmAccount) },
  { ...entryBySignOn, method: "GET", path: newConfirmationPath, handler: ifSignInEnabled(showNewConfirmation) },
  { ...entryBySignOn, method: "POST", path: newConfirmationPath, handler: ifSignInEnabled(requestConfirmation) },
  {
    method: "GET",
    path: requestResetPath,
    group: "internal",
    access: "page_entry",
    handler: ifSignInEnabled(showRequestReset),
  },
  {
    method: "POST",
    path: requestResetPath,
    group: "internal",
    access: "page_entry",
    keepsTyped: true,
    handler: ifSignInEnabled(requestReset),
  },
  {
    method: "GET",
    path: resetPasswordPath,
    group: "internal",
    access: "page_entry",
    handler: ifSignInEnabled(showResetPassword),
  },
  {
    method: "POST",
    path: resetPasswordPath,
    group: "internal",
    access: "page_entry",
    handler: ifSignInEnabled(resetPassword),
  },
  // They prove an address, and sign nobody in.
  { ...entryBySignOn, method: "GET", path: newEmailPath, handler: showEmailConfirmation },
  { ...entryBySignOn, method: "POST", path: newEmailPath, handler: confirmNewEmail },
  { method: "GET", path: emailConfirmedPath, group: "internal", access: "page", handler: showEmailConfirmed },
  { method: "GET", path: accountPath, group: "internal", access: "page_session", handler: showAccount },
  { method: "GET", path: `${accountPath}/data`, group: "internal", access: "page_session", handler: downloadData },
  { method: "POST", path: `${accountPath}/email`, group: "internal", access: "page_session", handler: changeEmail },
  {
    method: "POST",
    path: `${accountPath}/email/confirmation`,
    group: "internal",
    access: "page_session",
    handler: requestOwnConfirmation,
  },
  {
    method: "POST",
    path: `${accountPath}/password`,
    group: "internal",
    access: "page_session",
    withSignOnOnly: false,
    handler: changePassword,
  },
  {
    method: "POST",
    path: `${accountPath}/language`,
    group: "internal",
    access: "page_session",
    handler: changeLanguage,
  },
  {
    method: "POST",
    path: `${accountPath}/defaults`,
    group: "internal",
    access: "page_session",
    handler: changeDefaults,
  },
  { method: "POST", path: `${accountPath}/delete`, group: "internal", access: "page_session", handler: deleteAccount },
  {
    method: "POST",
    path: `${accountPath}/sessions/end_others`,
    group: "internal",
    access: "page_session",
    handler: endOtherSessions,
  },
  {
    method: "POST",
    path: `${accountPath}/sessions/:id/end`,
    group: "internal",
    access: "page_session",
    handler: endSession,
  },
  { method: "GET", path: accountDeletedPath, group: "internal", access: "page", handler: showAccountDeleted },
  ...factorRoutes,
  { method: "GET", path: tokensPath, group: "internal", access: "page_session", handler: showTokens },
  { method: "POST", path: tokensPath, group: "internal", access: "page_session", handler: createToken },
  { method: "POST", path: `${tokensPath}/:id/revoke`, group: "internal", access: "page_session", handler: revokeToken },
  { method: "POST", path: themeChoicePath, group: "internal", access: "page", handler: chooseTheme },
  { method: "GET", path: `${brandingPath}/:filename`, group: "recipient", access: "public", handler: sendBrandingFile },
  ...adminRoutes,
  ...webAppRoutes,
  ...oldAddressRoutes,
];

const readingMethods: ReadonlySet<string> = new Set<PageRoute["method"]>(["GET", "HEAD", "OPTIONS"]);

/** The names that a build gives to assets. Every other name (dots, slashes, a zero byte) is refused without a file access. */
const assetName = /^[\w-]+\.[a-z]+$/i;

/** Closed by default: a new way to enter must not forget that single sign-on can be the only one. */
function isOpen({ access, withSignOnOnly }: PageRoute, { accounts }: Config): boolean {
  return !accounts.signOnOnly || (withSignOnOnly ?? (access !== "page_entry" && access !== "page_waiting"));
}

function registerRoutes(server: FastifyInstance, services: PageServices): void {
  for (const route of pageRoutes) {
    const { method, path, group, access, isEnabled } = route;
    if (isEnabled?.(services.config) === false) continue;
    const { retrieval = false, beforeFactor = false, streamsFiles = false, keepsTyped = false } = route;
    const changesState = !readingMethods.has(method) && route.changesNothing !== true;
    server.route({
      method,
      url: path,
      config: {
        access,
        group,
        changesState,
        retrieval,
        beforeFactor,
        streamsFiles,
        keepsTyped,
        sendsBackSignedOut: access === "page_creator" || "whenSignedOut" in route,
      },
      handler: isOpen(route, services.config)
        ? (request, reply) => handlePage(route, request, reply, services)
        : (request, reply) => renderClosed(new PageRequest(request, reply, services), "sign-on only"),
    });
  }
}

/** Registers every page, and what browsers and robots load: the assets, the hashes of the scripts, and `robots.txt`. */
export async function registerPages(
  server: FastifyInstance,
  deps: PageServices & { readonly assetsDir: string },
): Promise<void> {
  registerRoutes(server, deps);
  const allowed = deps.config.noIndex ? [] : indexablePaths;
  const robotsText = ["User-agent: *", ...allowed.map((path) => `Allow: ${path}$`), "Disallow: /", ""].join("\n");
  await server.register(fastifyStatic, {
    root: deps.assetsDir,
    serve: false,
    cacheControl: false,
    preCompressed: true,
  });
  server.get<{ Params: { name: string } }>(
    "/assets/:name",
    { config: { access: "public", group: "recipient", changesState: false } },
    (request, reply) => {
      const { name } = request.params;
      if (!assetName.test(name)) throw new AppError("not_found", "not-found");
      return immutableFor(reply).sendFile(name);
    },
  );
  const scripts = builtScripts(deps.assetsDir);
  server.get("/scripts.json", { config: { access: "public", group: "recipient", changesState: false } }, () => ({
    scripts,
  }));
  server.get(
    "/robots.txt",
    { config: { access: "public", group: "recipient", changesState: false } },
    (_request, reply) => reply.type("text/plain; charset=utf-8").send(robotsText),
  );
}
