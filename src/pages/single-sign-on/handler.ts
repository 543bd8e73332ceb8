import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { AppError, unreachable } from "../../base/errors.ts";
import { secondFactorPath, signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { isRobot } from "../../http/robots.ts";
import { createTokenCookies } from "../../http/session-cookie.ts";
import { enter, setSession } from "../entry.tsx";
import { pageHref } from "../page.ts";
import { staysSignedIn } from "../parts/stay-signed-in.tsx";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "../take-form.ts";
import { providerNameOf } from "./provider.ts";
import {
  codeView,
  confirmLinkPath,
  confirmLinkView,
  leaveView,
  problemView,
  type SignOnProblem,
  signOnCodePath,
  signOnSettingsView,
  signOnView,
} from "./views.tsx";

export const signOnPath = "/users/auth/oidc";

/** `POST /users/auth/oidc` */
export function beginSignIn(page: PageRequest): Promise<Reply> {
  return begin(page, "sign_in");
}

/** `POST <settings>/link` */
export function beginLink(page: SignedInRequest): Promise<Reply> {
  return begin(page, "link");
}

/** `POST <settings>/again` */
export function beginProof(page: SignedInRequest): Promise<Reply> {
  return begin(page, "prove");
}

/**
 * `GET /users/sign_in` where single sign-on is the only way in: goes on to the provider at once. It asks first after a sign-out, so
 * that one stays out; what is not a person's navigation begins nothing.
 */
export function showSignInOnly(page: PageRequest): Promise<Reply> | Reply {
  const next = ownPath(page.query("next"));
  const { headers } = page.request;
  const isNavigation = (headers["sec-fetch-dest"] ?? "document") === "document" && headers["sec-purpose"] === undefined;
  if (page.query("done") === undefined && isNavigation && !isRobot(headers["user-agent"])) {
    return beginWith(page, "sign_in", { next, stays: false });
  }
  const { accounts, config } = page.services;
  const idleSeconds = Math.min(accounts.persistentIdleSeconds, config.accounts.sessionMaxSeconds);
  const signedOut = page.query("done") === "signed_out";
  const model = { provider: providerName(page), next, signedOut, idleSeconds };
  return page.render(signOnView, model, { selfPath: withNext(signInPath, next) });
}

async function begin(page: PageRequest, purpose: "sign_in" | "link" | "prove"): Promise<Reply> {
  const form = await page.form();
  return beginWith(page, purpose, { next: ownPath(textOf(form, "next")), stays: staysSignedIn(form) });
}

async function beginWith(
  page: PageRequest,
  purpose: "sign_in" | "link" | "prove",
  { next: requestedPath, stays: persistent }: { readonly next: string | null; readonly stays: boolean },
): Promise<Reply> {
  const context = page.context();
  // The return from the provider has no `?locale=`, so the path has to keep it.
  const next = requestedPath === null && !context.localeAsked ? null : pageHref(context, requestedPath ?? "/");
  const { session, clientContext: client } = page;
  const request = { next, purpose, session, persistent, client };
  try {
    const { url, stepToken } = await page.services.accounts.beginSignOn(request);
    page.setCookie(stepCookies(page).made(stepToken, page.request.client));
    return page.render(leaveView, { provider: providerName(page), url });
  } catch (error) {
    return renderUnreachable(page, error);
  }
}

/**
 * `GET /users/auth/oidc/callback`. The step's cookie and the state tie it to a sign-on that began in this browser. The
 * route is a retrieval, so that a prefetch does not use the sign-on up.
 */
export async function completeSignOn(page: PageRequest): Promise<Reply> {
  const { accounts, events } = page.services;
  const url = page.request.raw.url ?? "";
  const query = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  const stepToken = findStepToken(page);
  const { session } = page;
  try {
    const outcome = await accounts.completeSignOn({ stepToken, query, session, client: page.clientContext });
    switch (outcome.is) {
      case "signed_in": {
        const { sessionToken, waitsForFactor, next } = outcome;
        endStep(page);
        const after = waitsForFactor ? withNext(secondFactorPath, next) : (next ?? "/");
        return await enter(page, sessionToken, after);
      }
      case "to_confirm":
        page.setCookie(stepCookies(page).made(outcome.stepToken, page.request.client));
        return page.redirect(confirmLinkPath);
      case "proved":
        endStep(page);
        return page.redirect(outcome.next ?? provedPath);
      case "code_sent":
        page.setCookie(stepCookies(page).made(outcome.stepToken, page.request.client));
        return page.redirect(signOnCodePath);
      case "linked_before":
        return page.redirect(signOnSettingsPath);
      case "invalid":
        if (outcome.error !== undefined) events.singleSignOnRefused(page.request.id, outcome.error);
        return renderProblem(page, "invalid");
      case "denied":
      case "no_account":
      case "linked_elsewhere":
        return renderProblem(page, outcome.is);
      case "refused":
        return renderProblem(page, outcome.refusal);
      default:
        return unreachable(outcome);
    }
  } catch (error) {
    return renderUnreachable(page, error);
  }
}

const logoutTokenBytesMax = 16 * 1_024;

/** `POST /users/auth/oidc/backchannel-logout`, by the provider. No cookie counts, and nothing says whether a session ended. */
export async function backchannelLogout(page: PageRequest): Promise<Reply> {
  const invalid = () => page.reply.code(400).send({ error: "invalid_request" });
  page.reply.header("cache-control", "no-store");
  let token: string;
  try {
    const declared = Number(page.request.headers["content-length"] ?? 0);
    token = declared > logoutTokenBytesMax ? "" : textOf(await page.form(), "logout_token");
  } catch (error) {
    if (error instanceof AppError && unreadableBodies.includes(error.code)) return invalid();
    throw error;
  }
  if (token === "" || token.length > logoutTokenBytesMax) return invalid();
  try {
    return (await page.services.accounts.endByLogoutToken(token)) ? page.reply.code(200).send() : invalid();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
    page.reportUnavailable(error);
    return page.reply.code(503).send({ error: "temporarily_unavailable" });
  }
}

const unreadableBodies: readonly AppError["code"][] = ["invalid_request", "unsupported_media_type", "too_large"];

interface ConfirmSent {
  readonly password: string;
  readonly mailed: string;
}

const confirmLinkForm: FormDeclaration<PageRequest, ConfirmSent, "password"> = {
  read: (fields) => ({ password: textOf(fields, "password"), mailed: textOf(fields, "token") }),
  show: (page, { mailed }, state) => renderConfirmLink(page, mailed, state),
  attemptsAt: "password",
};

/** `GET /users/auth/oidc/confirm`: asks whether the identity belongs to the account. The mailed link adds `?token=`. */
export function showConfirmLink(page: PageRequest): Promise<Reply> {
  return renderConfirmLink(page, page.query("token") ?? "", untouched);
}

/** `POST /users/auth/oidc/confirm/mail` */
export const mailLinkToConfirm = formHandler(confirmLinkForm, async (page) => {
  const isMailed = await page.services.accounts.mailLinkToConfirm(findStepToken(page));
  return isMailed ? renderConfirmLink(page, "", untouched, isMailed) : renderProblem(page, "invalid");
});

/** `POST /users/auth/oidc/confirm` */
export const confirmLink = formHandler(confirmLinkForm, async (page, sent) => {
  const { session, clientContext: client } = page;
  const given = { ...sent, stepToken: findStepToken(page), session, client };
  const outcome = await page.services.accounts.confirmLink(given);
  switch (outcome.is) {
    case "linked":
      endStep(page);
      if (outcome.sessionToken !== null) await setSession(page, outcome.sessionToken);
      return page.redirect(outcome.next ?? "/");
    case "waits_for_factor":
      return enter(page, outcome.sessionToken, withNext(secondFactorPath, confirmLinkPath));
    case "wrong_password":
      return refused({ password: page.messages.singleSignOn.wrongPassword }, { status: 401 });
    case "linked_elsewhere":
    case "invalid":
      return renderProblem(page, outcome.is);
    default:
      return unreachable(outcome);
  }
});

const provedPath = `${signOnSettingsPath}?proved=1`;

const codeForm: FormDeclaration<SignedInRequest, string, "code"> = {
  read: (fields) => textOf(fields, "code"),
  show(page, _code, state) {
    const model = { provider: providerName(page), email: page.user.email, state };
    return page.render(codeView, model, { status: state.status, selfPath: signOnCodePath });
  },
};

/** `GET <settings>/code` */
export async function showCode(page: SignedInRequest): Promise<Reply> {
  const waits = await page.services.accounts.waitsForCode(findStepToken(page), page.session);
  return waits ? codeForm.show(page, "", untouched) : page.redirect(signOnSettingsPath);
}

/** `POST <settings>/code` */
export const giveCode = formHandler(codeForm, async (page, code) => {
  const outcome = await page.services.accounts.giveMailedCode(findStepToken(page), code, page.session);
  if (outcome.is === "wrong") return refused({ code: page.messages.singleSignOn.codeWrong });
  endStep(page);
  return outcome.is === "proved" ? page.redirect(outcome.next ?? provedPath) : renderProblem(page, "invalid");
});

const settingsForm: FormDeclaration<SignedInRequest, string, "password"> = {
  read: (fields) => textOf(fields, "password"),
  show: renderSettings,
  attemptsAt: "password",
};

/** `GET <settings>` */
export function showSignOnSettings(page: SignedInRequest): Promise<Reply> {
  return renderSettings(page, "", untouched);
}

/** `POST <settings>/unlink` */
export const unlinkIdentities = formHandler(settingsForm, async (page, password) => {
  const unlinking = { userId: page.user.id, password, client: page.clientContext };
  const outcome = await page.services.accounts.unlinkIdentities(unlinking);
  if (outcome === "wrong_password") return refused({ password: page.messages.singleSignOn.wrongPassword });
  return page.redirect(signOnSettingsPath);
});

const stepSeconds = 600;

/** The cookie holds the step's token, so that a sign-on ends in the browser in which it began. */
function stepCookies(page: PageRequest) {
  const setting = page.services.config.secureCookies;
  return createTokenCookies(setting, { name: "sealpush_sign_on", seconds: stepSeconds });
}

function findStepToken(page: PageRequest): string | undefined {
  return stepCookies(page).find(page.request.raw, page.request.client);
}

function endStep(page: PageRequest): void {
  page.setCookie(stepCookies(page).ended(page.request.client));
}

/** "" without a provider: `accounts` then refuses before a page shows the name. */
function providerName(page: PageRequest): string {
  return providerNameOf(page.services.config) ?? "";
}

const statusOf = (problem: SignOnProblem) => (problem === "invalid" ? 400 : problem === "unreachable" ? 503 : 403);

function renderProblem(page: PageRequest, problem: SignOnProblem): Reply {
  const model = { problem, provider: providerName(page), only: isOnly(page) };
  return page.render(problemView, model, { status: statusOf(problem) });
}

function renderUnreachable(page: PageRequest, error: unknown): Reply {
  if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
  page.reportUnavailable(error);
  return renderProblem(page, "unreachable");
}

async function renderConfirmLink(
  page: PageRequest,
  mailed: string,
  state: FormState<"password">,
  isMailed = false,
): Promise<Reply> {
  const link = await page.services.accounts.findLinkToConfirm(findStepToken(page), mailed, page.session);
  if (link === undefined) return renderProblem(page, "invalid");
  const model = { provider: providerName(page), link, state, mailed, isMailed, only: isOnly(page) };
  return page.render(confirmLinkView, model, { status: state.status, selfPath: confirmLinkPath });
}

function isOnly(page: PageRequest): boolean {
  return page.services.config.accounts.signOnOnly;
}

async function renderSettings(page: SignedInRequest, _password: string, state: FormState<"password">): Promise<Reply> {
  const { accounts, config } = page.services;
  if (config.singleSignOn === undefined) return page.notFound();
  const { id, hasPassword } = page.user;
  const issuer = new URL(config.singleSignOn.issuer).href;
  const identities = await accounts.listIdentities(id);
  const linkedAt = identities
    .filter((identity) => URL.parse(identity.issuer)?.href === issuer)
    .map((identity) => identity.linkedAt);
  const isProved = page.query("proved") === "1";
  const next = ownPath(page.query("next") ?? "");
  const model = { provider: providerName(page), linkedAt, hasPassword, only: isOnly(page), isProved, next, state };
  return page.render(signOnSettingsView, model, { status: state.status, selfPath: signOnSettingsPath });
}
