import type { FastifyReply } from "fastify";
import { dayMs } from "../../base/clock.ts";
import { AppError, unreachable } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { findMessages } from "../../i18n/i18n.ts";
import { passwordSentence } from "../entry.tsx";
import { languageCookies } from "../language-choice.ts";
import { browserName } from "../parts/browser-name.ts";
import { mayConfirm } from "../push-form/form.ts";
import type { PageRequest, SignedInRequest } from "../request.ts";
import { providerNameOf } from "../single-sign-on/button.tsx";
import { type DefaultsForm, defaultsForm, readDefaults } from "./defaults-form.ts";
import { type AccountModel, type AccountProblems, type Done, doneNames, revokeTokensField } from "./model.ts";
import { accountPath } from "./path.ts";
import { accountView, deletedView } from "./view.tsx";

export const accountDeletedPath = "/users/deleted";

/** `GET /users/edit` */
export function showAccount(page: SignedInRequest): Promise<FastifyReply> {
  const done = page.query("done");
  return renderAccount(page, { done: doneNames.find((name) => name === done) ?? null });
}

/** `POST /users/edit/email` */
export async function changeEmail(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const newEmail = textOf(form, "email");
  const { email: messages } = page.messages.profile;
  const refuse = (problems: { email?: string; email_password?: string }) =>
    renderAccount(page, { status: 422, newEmail, problems });
  return await withAttemptLimit(page, "email_password", { newEmail }, async () => {
    const outcome = await page.services.accounts.changeEmail({
      session: page.session,
      email: newEmail,
      password: textOf(form, "password"),
      client: page.clientContext,
    });
    switch (outcome) {
      case "changed":
        return redirectDone(page, "email");
      case "link_sent":
        return redirectDone(page, "link");
      case "not_confirmed":
        return await refuse({ email_password: identityRefusal(page) });
      case "malformed":
        return await refuse({ email: messages.malformed });
      case "not_allowed":
        return await refuse({ email: messages.notAllowed });
      case "unchanged":
        return await refuse({ email: messages.unchanged });
      case "taken":
        return await refuse({ email: messages.taken });
      case "too_many":
        return await refuse({ email: messages.tooMany });
      default:
        return unreachable(outcome);
    }
  });
}

/**
 * `POST /users/edit/email/confirmation`: mails a confirmation link to the account's current address. View notifications go
 * to confirmed addresses only.
 */
export async function requestOwnConfirmation(page: SignedInRequest): Promise<FastifyReply> {
  await page.form();
  const { user } = page.session;
  const language = page.messages.locale.tag;
  return await withAttemptLimit(page, "email_confirmation", {}, async () => {
    const { accounts } = page.services;
    const outcome = await accounts.requestOwnConfirmation({ user, language, client: page.clientContext });
    return outcome === "sent" ? redirectDone(page, "confirmation") : page.redirect(accountPath);
  });
}

/** `POST /users/edit/password` */
export async function changePassword(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const { id, user } = page.session;
  const { messages } = page;
  const { again } = messages.profile;
  return await withAttemptLimit(page, "current_password", {}, async () => {
    const outcome = await page.services.accounts.changePassword({
      userId: user.id,
      current: textOf(form, "current_password"),
      password: textOf(form, "password"),
      keepSessionId: id,
      // Programs that post the form without the field get the safer choice.
      revokesTokens: textOf(form, revokeTokensField) !== "0",
      client: page.clientContext,
    });
    if (outcome === "changed") return redirectDone(page, "password");
    const problems =
      outcome === "wrong_password"
        ? { current_password: again.wrong }
        : { new_password: outcome === "sign_in_again" ? again.signIn : passwordSentence(outcome, messages) };
    return await renderAccount(page, { status: 422, problems });
  });
}

/** `POST /users/edit/language` */
export async function changeLanguage(page: SignedInRequest): Promise<FastifyReply> {
  const form = await page.form();
  const language = textOf(form, "language");
  const tag = language === "" ? null : findMessages(language, page.services.config.languages)?.locale.tag;
  if (tag === undefined) {
    const { problem } = page.messages.profile.language;
    return await renderAccount(page, { status: 422, problems: { language: problem } });
  }
  await page.services.accounts.setLanguage(page.session.user.id, tag);
  page.setCookie(languageCookies(page.services.config).ended(page.request.client));
  // Without this request's `?locale=`, so that the page appears in the chosen language.
  return page.redirectToUrl(`${accountPath}?done=language`);
}

/** `POST /users/edit/defaults` */
export async function changeDefaults(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, config } = page.services;
  const form = await page.form();
  const { user } = page.session;
  const read = readDefaults(form, await accounts.pushDefaults(user.id), config, page.messages);
  if (Object.keys(read.problems).length > 0) {
    return await renderAccount(page, { status: 422, problems: read.problems, defaults: read.form });
  }
  return await sendBackUnavailable(page, { defaults: read.form }, async () => {
    await accounts.setPushDefaults(user.id, read.defaults);
    return redirectDone(page, "defaults");
  });
}

/** `POST /users/edit/sessions/:id/end` */
export async function endSession(page: SignedInRequest): Promise<FastifyReply> {
  const { id } = page;
  const ended = id !== undefined && (await page.services.accounts.endSession(page.session.user.id, id));
  return ended ? redirectDone(page, "session") : page.notFound();
}

/** `POST /users/edit/sessions/end_others` */
export async function endOtherSessions(page: SignedInRequest): Promise<FastifyReply> {
  const { id, user } = page.session;
  await page.services.accounts.endOtherSessions(user.id, id);
  return redirectDone(page, "sessions");
}

/** `POST /users/edit/delete` */
export async function deleteAccount(page: SignedInRequest): Promise<FastifyReply> {
  const { accounts, sessionCookies, deleteAccount: deleteUser } = page.services;
  const form = await page.form();
  const { session } = page;
  const refuse = (problem: string) => renderAccount(page, { status: 422, problems: { delete_password: problem } });
  return await withAttemptLimit(page, "delete_password", {}, async () => {
    const confirmed = await accounts.confirmIdentity(session, textOf(form, "password"), page.clientContext);
    if (!confirmed) return await refuse(identityRefusal(page));
    const change = await deleteUser(session.user.id, null);
    if (change.outcome === "last_admin") return await refuse(page.messages.profile.delete.lastAdmin);
    page.setCookie(sessionCookies.ended(page.request.client));
    return page.redirect(accountDeletedPath);
  });
}

/** `GET /users/deleted` */
export function showAccountDeleted(page: PageRequest): FastifyReply {
  return page.renderPlain(deletedView, { selfPath: accountDeletedPath });
}

/** How long the page points out a new API token, and how many of them. */
const newTokenMs = 30 * dayMs;
const newTokensMax = 5;

/** What was typed, apart from passwords, for sending a form back. */
interface Typed {
  readonly newEmail?: string;
  readonly defaults?: DefaultsForm;
}

/** What the page shows besides the stored data. */
interface Shown extends Typed {
  readonly status?: number;
  readonly done?: Done | null;
  readonly problems?: AccountProblems;
  readonly refusal?: string;
}

async function renderAccount(page: SignedInRequest, shown: Shown): Promise<FastifyReply> {
  const model = await accountModel(page, shown);
  return page.render(accountView, model, { status: shown.status ?? 200, selfPath: page.isGet ? accountPath : null });
}

async function accountModel(page: SignedInRequest, shown: Shown): Promise<AccountModel> {
  const { accounts, config, clock } = page.services;
  const { messages } = page;
  const { id: currentId, user } = page.session;
  const [defaults, unconfirmedEmail, sessions, tokens] = await Promise.all([
    accounts.pushDefaults(user.id),
    accounts.unconfirmedEmail(user.id),
    accounts.listSessions(user.id),
    accounts.listTokens(user.id),
  ]);
  const now = clock.now();
  const tokensInUse = tokens.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt ?? now + 1) > now);
  return {
    email: user.email,
    signOnOnly: config.accounts.signOnOnly,
    hasPassword: user.hasPassword,
    hasSecondFactor: user.hasSecondFactor,
    unconfirmedEmail,
    now,
    provider: providerNameOf(config),
    confirmsByMail: config.accounts.emails,
    mayConfirm: mayConfirm(user, config),
    newEmail: shown.newEmail ?? "",
    language: user.language ?? "",
    defaults: shown.defaults ?? defaultsForm(defaults, config),
    sessions: sessions
      .map(({ userAgent, ...session }) => ({
        ...session,
        browser: browserName(userAgent, messages),
        current: session.id === currentId,
      }))
      .sort((a, b) => Number(b.current) - Number(a.current)),
    tokensInUse: tokensInUse.length,
    newTokens: tokensInUse.filter(({ createdAt }) => now - createdAt < newTokenMs).slice(0, newTokensMax),
    done: shown.done ?? null,
    problems: shown.problems ?? {},
    refusal: shown.refusal ?? null,
  };
}

/** Redirects to the page, which then confirms what was done. */
function redirectDone(page: SignedInRequest, done: Done): FastifyReply {
  return page.redirect(`${accountPath}?done=${done}`);
}

/**
 * Runs a step whose attempts are limited, such as checking a password. Too many attempts are reported beside the field.
 * @param field the control of the step.
 */
async function withAttemptLimit(
  page: SignedInRequest,
  field: keyof AccountProblems,
  typed: Typed,
  step: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  return await sendBackUnavailable(page, typed, async () => {
    try {
      return await step();
    } catch (error) {
      const problem = page.messages.problems.tooManyAttempts({ count: page.waitAfter(error) });
      return await renderAccount(page, { ...typed, status: 429, problems: { [field]: problem } });
    }
  });
}

/** Sends the form back if the server cannot take it now: browsers do not keep this page for their Back button. */
async function sendBackUnavailable(
  page: SignedInRequest,
  typed: Typed,
  step: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
    page.reportUnavailable(error);
    return await renderAccount(page, { ...typed, status: 503, refusal: page.messages.failure.unavailableText });
  }
}

/** The sentence for a user whose identity `confirmIdentity` did not confirm. */
function identityRefusal(page: SignedInRequest): string {
  const { again } = page.messages.profile;
  return page.session.user.hasPassword ? again.wrong : again.signIn;
}
