import type { FastifyReply, FastifyRequest } from "fastify";
import { unreachable } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { findMessages } from "../../i18n/i18n.ts";
import { goTo } from "../answers.ts";
import { passwordSentence } from "../entry.ts";
import { clientContextOf, type PageDeps, pageContext, sessionOf } from "../page-scope.ts";
import { readDefaults } from "./defaults-form.ts";
import { accountPath } from "./model.ts";
import { notConfirmed, redirectDone, sendAccount, withWaitTold } from "./show.ts";

export async function changeEmail(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const newEmail = textOf(form, "email");
  const { email: messages } = pageContext(request, deps, null).messages.profile;
  const refuse = (problems: { email?: string; email_password?: string }) =>
    sendAccount(request, reply, deps, { status: 422, newEmail, problems });
  return await withWaitTold(request, reply, deps, "email_password", async () => {
    const outcome = await deps.accounts.changeEmail({
      ...{
        session: sessionOf(request),
        email: newEmail,
        password: textOf(form, "password"),
        client: clientContextOf(request),
      },
    });
    switch (outcome) {
      case "changed":
        return redirectDone(request, reply, deps, "email");
      case "link_sent":
        return redirectDone(request, reply, deps, "link");
      case "not_confirmed":
        return await refuse({ email_password: notConfirmed(request, deps) });
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

/** A link to the address that the account has: to be told of views, it must be its owner's. */
export async function requestConfirmation(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  await receiveForm(request, deps.bodyBudget);
  const { user } = sessionOf(request);
  const language = pageContext(request, deps, null).messages.locale.tag;
  return await withWaitTold(request, reply, deps, "email_confirmation", async () => {
    const outcome = await deps.accounts.requestOwnConfirmation({ user, language, client: clientContextOf(request) });
    return outcome === "sent"
      ? redirectDone(request, reply, deps, "confirmation")
      : goTo(accountPath, request, reply, deps);
  });
}

export async function changePassword(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const { id, user } = sessionOf(request);
  const { messages } = pageContext(request, deps, null);
  const { again } = messages.profile;
  return await withWaitTold(request, reply, deps, "current_password", async () => {
    const outcome = await deps.accounts.changePassword({
      ...{ userId: user.id, current: textOf(form, "current_password"), password: textOf(form, "password") },
      ...{ keepSessionId: id, client: clientContextOf(request) },
    });
    if (outcome === "changed") return redirectDone(request, reply, deps, "password");
    const problems =
      outcome === "wrong_password"
        ? { current_password: again.wrong }
        : { new_password: outcome === "sign_in_again" ? again.signIn : passwordSentence(outcome, messages) };
    return await sendAccount(request, reply, deps, { status: 422, problems });
  });
}

export async function changeLanguage(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const language = textOf(form, "language");
  const tag = language === "" ? null : findMessages(language)?.locale.tag;
  if (tag === undefined) {
    const { problem } = pageContext(request, deps, null).messages.profile.language;
    return await sendAccount(request, reply, deps, { status: 422, problems: { language: problem } });
  }
  await deps.accounts.setLanguage(sessionOf(request).user.id, tag);
  // Without the language that this address may have asked for: the chosen one is to be seen.
  return reply.redirect(`${accountPath}?done=language`, 303);
}

export async function changeDefaults(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const { user } = sessionOf(request);
  const { messages } = pageContext(request, deps, null);
  const read = readDefaults(form, await deps.accounts.pushDefaults(user.id), deps.config, messages);
  if (Object.keys(read.problems).length > 0) {
    return await sendAccount(request, reply, deps, { status: 422, problems: read.problems, defaults: read.form });
  }
  await deps.accounts.setPushDefaults(user.id, read.defaults);
  return redirectDone(request, reply, deps, "defaults");
}
