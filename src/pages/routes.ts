import type { FastifyInstance } from "fastify";
import { breakGlassPath, signOnSettingsPath } from "../accounts/accounts.ts";
import type { Config } from "../config/config.ts";
import { secondFactorPath, signInPath } from "../http/authentication.ts";
import { builtScripts, registerAssets } from "../http/built-assets.ts";
import { indexablePaths } from "../http/headers.ts";
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
import { accountPath, presetsPath } from "./account/path.ts";
import { showGroup, showMember, showMembersPush } from "./activity/group.tsx";
import { groupActivityPath, memberPath, memberPushPath } from "./activity/paths.ts";
import { adminRoutes, adminSections } from "./admin/routes.ts";
import { sendBrandingFile } from "./admin/theme.tsx";
import { showApiHelp, showApiV1Help } from "./api-help/api-help.tsx";
import { downloadAudit } from "./audit/export.ts";
import { showAudit } from "./audit/view.tsx";
import { chooseTheme } from "./choose-theme.ts";
import {
  confirmAccount,
  confirmationPath,
  newConfirmationPage,
  newConfirmationPath,
  showConfirmation,
} from "./confirmation.tsx";
import { downloadCode, mailLink, showCreated, showOpened } from "./created/handler.ts";
import { deletePath, deleteSelected } from "./dashboard/deletion.tsx";
import { showDashboard } from "./dashboard/view.tsx";
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
import { deletePreset, ownPresets, savePreset, showPresets } from "./presets/presets.tsx";
import { handlePage, PageRequest, type PageRoute, type PageServices } from "./request.ts";
import { requestRoutes } from "./requests/routes.ts";
import {
  requestResetPage,
  requestResetPath,
  resetPassword,
  resetPasswordPath,
  showResetPassword,
} from "./reset-password.tsx";
import { offerPasskeySignIn, signInByPasskey } from "./second-factor/passkey-sign-in.tsx";
import { checkSecondFactor, offerSecondFactorPasskeys, showSecondFactor } from "./second-factor/second-factor.tsx";
import { claimByForm, showPush } from "./secret/handler.ts";
import { showSignIn, showSignOut, signIn, signOut, signOutPath } from "./sign-in.tsx";
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
import { tokensPath } from "./tokens/model.ts";
import { createToken, revokeToken, showTokens } from "./tokens/tokens.tsx";
import { uploadRoutes } from "./uploads.ts";
import { sharePath, webAppRoutes } from "./web-app.ts";

/** Open where single sign-on is the only way in. */
const entryBySignOn = { group: "internal", access: "page_entry", withSignOnOnly: true } as const;

const session = { group: "internal", access: "page_session" } as const;
const creator = { group: "internal", access: "page_creator" } as const;
const visitor = { group: "internal", access: "page" } as const;
const recipient = { group: "recipient", access: "page" } as const;
const entry = { group: "internal", access: "page_entry" } as const;
const waiting = { group: "internal", access: "page_waiting" } as const;
const asset = { group: "recipient", access: "public" } as const;

const mailsLinks = (config: Config) => config.linkDeliveries.enabled;

/** With `/r` at its end, a link always shows the retrieval step. */
const linkRoutes = ["/p/:token", "/p/:token/r"].flatMap((path): readonly PageRoute[] => [
  { ...recipient, method: "GET", path, handler: showPush, retrieval: true },
  { ...recipient, method: "POST", path, handler: claimByForm, retrieval: true },
]);

/** Every page: its address, who may request it and what answers. */
const pageRoutes: readonly PageRoute[] = [
  { ...creator, method: "GET", path: "/", handler: withOldParameters(showNewPush) },
  { ...creator, method: "GET", path: "/p/new", handler: withOldParameters(showNewPush) },
  { ...creator, method: "POST", path: "/p", handler: createPush, streamsFiles: true, keepsTyped: true },
  { ...creator, method: "POST", path: sharePath, changesNothing: true, handler: showShared },
  ...uploadRoutes,
  { ...session, method: "GET", path: "/p", handler: withOldParameters(showDashboard) },
  { ...session, method: "POST", path: deletePath, handler: deleteSelected, retrieval: true },
  ...linkRoutes,
  { ...visitor, method: "GET", path: "/p/:token/preview", handler: showCreated },
  { ...visitor, method: "GET", path: "/p/:token/r/preview", handler: showCreated },
  { ...visitor, method: "GET", path: "/p/:token/preview/qr", handler: downloadCode },
  { ...session, method: "GET", path: "/p/:token/preview/opened", handler: showOpened },
  { ...session, method: "POST", path: "/p/:token/notify_emails", handler: mailLink, isEnabled: mailsLinks },
  { ...recipient, method: "POST", path: "/p/:token/expire", handler: deletePush, retrieval: true },
  { ...session, method: "GET", path: "/p/:token/another", handler: showAnother },
  { ...session, method: "GET", path: "/p/:token/edit", handler: showEdit },
  {
    ...session,
    method: "POST",
    path: "/p/:token/edit",
    streamsFiles: true,
    keepsTyped: true,
    handler: saveEdit,
    whenSignedOut: returnEdit,
  },
  { ...session, method: "GET", path: "/p/:token/audit", handler: showAudit },
  { ...session, method: "GET", path: "/p/:token/audit/download", handler: downloadAudit },
  { ...session, method: "GET", path: groupActivityPath(":id"), handler: showGroup },
  { ...session, method: "GET", path: memberPath(":id", ":member"), handler: showMember },
  { ...session, method: "GET", path: memberPushPath(":id", ":member", ":push"), handler: showMembersPush },
  { ...recipient, method: "GET", path: aboutPath, handler: showAbout },
  ...requestRoutes,
  { ...visitor, method: "GET", path: "/help/api", handler: showApiHelp },
  { method: "GET", path: "/api", group: "internal", access: "public", handler: showApiV1Help },
  { ...entryBySignOn, method: "GET", path: signInPath, handler: ifSignInEnabled(showSignIn) },
  { ...entry, method: "POST", path: signInPath, keepsTyped: true, handler: ifSignInEnabled(signIn) },
  { ...entry, method: "POST", path: passkeySignInOptionsPath, handler: offerPasskeySignIn },
  { ...entry, method: "POST", path: passkeySignInPath, handler: signInByPasskey },
  { ...waiting, method: "GET", path: secondFactorPath, handler: showSecondFactor },
  { ...waiting, method: "POST", path: secondFactorPath, handler: checkSecondFactor },
  { ...waiting, method: "POST", path: secondFactorOptionsPath, handler: offerSecondFactorPasskeys },
  { ...entryBySignOn, method: "POST", path: signOnPath, handler: beginSignIn },
  { ...visitor, method: "GET", path: `${signOnPath}/callback`, handler: completeSignOn, retrieval: true },
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
  { ...session, method: "GET", path: signOnSettingsPath, handler: showSignOnSettings },
  { ...session, method: "POST", path: `${signOnSettingsPath}/link`, handler: beginLink },
  { ...session, method: "POST", path: `${signOnSettingsPath}/again`, handler: beginProof },
  { ...session, method: "GET", path: signOnCodePath, handler: showCode },
  { ...session, method: "POST", path: signOnCodePath, handler: giveCode },
  {
    ...session,
    method: "POST",
    path: `${signOnSettingsPath}/unlink`,
    withSignOnOnly: false,
    handler: unlinkIdentities,
  },
  { ...visitor, method: "GET", path: signOutPath, handler: showSignOut },
  { ...visitor, method: "POST", path: signOutPath, handler: signOut },
  { ...entry, method: "GET", path: firstRunPath, handler: ifSignInEnabled(showFirstRun) },
  { ...entry, method: "POST", path: firstRunPath, handler: ifSignInEnabled(createFirstAdministrator) },
  { ...entry, method: "GET", path: signUpPath, handler: ifSignUpEnabled(showSignUp) },
  { ...entry, method: "POST", path: signUpPath, keepsTyped: true, handler: ifSignUpEnabled(signUp) },
  { ...entryBySignOn, method: "GET", path: confirmationPath, handler: ifSignInEnabled(showConfirmation) },
  { ...entryBySignOn, method: "POST", path: confirmationPath, handler: ifSignInEnabled(confirmAccount) },
  { ...entryBySignOn, method: "GET", path: newConfirmationPath, handler: ifSignInEnabled(newConfirmationPage.show) },
  { ...entryBySignOn, method: "POST", path: newConfirmationPath, handler: ifSignInEnabled(newConfirmationPage.take) },
  { ...entry, method: "GET", path: requestResetPath, handler: ifSignInEnabled(requestResetPage.show) },
  {
    ...entry,
    method: "POST",
    path: requestResetPath,
    keepsTyped: true,
    handler: ifSignInEnabled(requestResetPage.take),
  },
  { ...entry, method: "GET", path: resetPasswordPath, handler: ifSignInEnabled(showResetPassword) },
  { ...entry, method: "POST", path: resetPasswordPath, handler: ifSignInEnabled(resetPassword) },
  // They prove an address, and sign nobody in.
  { ...entryBySignOn, method: "GET", path: newEmailPath, handler: showEmailConfirmation },
  { ...entryBySignOn, method: "POST", path: newEmailPath, handler: confirmNewEmail },
  { ...visitor, method: "GET", path: emailConfirmedPath, handler: showEmailConfirmed },
  { ...session, method: "GET", path: accountPath, handler: showAccount },
  { ...session, method: "GET", path: `${accountPath}/data`, handler: downloadData },
  { ...session, method: "POST", path: `${accountPath}/email`, handler: changeEmail },
  { ...session, method: "POST", path: `${accountPath}/email/confirmation`, handler: requestOwnConfirmation },
  { ...session, method: "POST", path: `${accountPath}/password`, withSignOnOnly: false, handler: changePassword },
  { ...session, method: "POST", path: `${accountPath}/language`, handler: changeLanguage },
  { ...session, method: "POST", path: `${accountPath}/defaults`, handler: changeDefaults },
  { ...session, method: "POST", path: `${accountPath}/delete`, handler: deleteAccount },
  { ...session, method: "POST", path: `${accountPath}/sessions/end_others`, handler: endOtherSessions },
  { ...session, method: "POST", path: `${accountPath}/sessions/:id/end`, handler: endSession },
  { ...visitor, method: "GET", path: accountDeletedPath, handler: showAccountDeleted },
  { ...session, method: "GET", path: presetsPath, handler: showPresets(ownPresets) },
  { ...session, method: "POST", path: presetsPath, handler: savePreset(ownPresets) },
  { ...session, method: "POST", path: `${presetsPath}/delete`, handler: deletePreset(ownPresets) },
  ...factorRoutes,
  { ...session, method: "GET", path: tokensPath, handler: showTokens },
  { ...session, method: "POST", path: tokensPath, handler: createToken },
  { ...session, method: "POST", path: `${tokensPath}/:id/revoke`, handler: revokeToken },
  { ...visitor, method: "POST", path: themeChoicePath, handler: chooseTheme },
  { ...asset, method: "GET", path: `${brandingPath}/:filename`, handler: sendBrandingFile },
  ...adminRoutes,
  ...webAppRoutes,
  ...oldAddressRoutes,
];

const readingMethods: ReadonlySet<string> = new Set<PageRoute["method"]>(["GET", "HEAD", "OPTIONS"]);

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
        takesForm: "takesForm" in route.handler,
        sendsBackSignedOut: access === "page_creator" || "whenSignedOut" in route,
      },
      handler: isOpen(route, services.config)
        ? (request, reply) => handlePage(route, request, reply, services)
        : (request, reply) => renderClosed(new PageRequest(request, reply, services), "sign-on only"),
    });
  }
}

/** Registers every page, and what browsers and robots load: the assets, the hashes of the scripts, and `robots.txt`. */
export function registerPages(
  server: FastifyInstance,
  deps: Omit<PageServices, "adminSections"> & { readonly assetsDir: string },
): void {
  registerRoutes(server, { ...deps, adminSections });
  const allowed = deps.config.noIndex ? [] : indexablePaths;
  const robotsText = ["User-agent: *", ...allowed.map((path) => `Allow: ${path}$`), "Disallow: /", ""].join("\n");
  registerAssets(server, deps.assetsDir);
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
