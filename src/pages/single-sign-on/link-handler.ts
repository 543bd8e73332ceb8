import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type LinkToConfirm, signOnSettingsPath } from "../../accounts/accounts.ts";
import { AppError, unreachable } from "../../base/errors.ts";
import { secondFactorPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { goTo, waitAfter } from "../answers.ts";
import { enter, takeSession } from "../entry.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, pageContext, userOf } from "../page-scope.ts";
import { withNext } from "../return-path.ts";
import { confirmLinkView, confirmPath } from "./confirm-view.tsx";
import { signOnSettingsView } from "./settings-view.tsx";
import { endStep, type SignOnDeps, sendProblem } from "./sign-on-scope.ts";

/** Confirming that an identity belongs to an account; seeing and undoing it. */
export function registerLinkPages(server: FastifyInstance, deps: SignOnDeps): void {
  server.get(confirmPath, { config: { access: "page", changesState: false } }, async (request, reply) => {
    const stepToken = deps.stepCookies.find(request.raw, request.client);
    const link = await deps.accounts.findLinkToConfirm(stepToken, request.session);
    if (link === undefined) return sendProblem("invalid", request, reply, deps);
    return sendConfirm(request, reply, deps, 200, link, null);
  });
  server.post(confirmPath, { config: { access: "page", changesState: true } }, (request, reply) =>
    confirm(request, reply, deps),
  );
  server.get(signOnSettingsPath, { config: { access: "page_session", changesState: false } }, (request, reply) =>
    sendSettings(request, reply, deps, 200, null),
  );
  const unlinking = { access: "page_session", changesState: true } as const;
  server.post(`${signOnSettingsPath}/unlink`, { config: unlinking }, (request, reply) => unlink(request, reply, deps));
}

async function confirm(request: FastifyRequest, reply: FastifyReply, deps: SignOnDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const stepToken = deps.stepCookies.find(request.raw, request.client);
  const { session } = request;
  const again = async (status: number, problem: string) => {
    const link = await deps.accounts.findLinkToConfirm(stepToken, session);
    if (link === undefined) return sendProblem("invalid", request, reply, deps);
    return sendConfirm(request, reply, deps, status, link, problem);
  };
  let outcome: Awaited<ReturnType<SignOnDeps["accounts"]["confirmLink"]>>;
  try {
    outcome = await deps.accounts.confirmLink({
      ...{ stepToken, password: textOf(form, "password"), session, client: clientContextOf(request) },
    });
  } catch (error) {
    return again(429, waitSentence(error, request, reply, deps));
  }
  switch (outcome.is) {
    case "linked":
      endStep(request, reply, deps);
      if (outcome.sessionToken !== null) await takeSession(outcome.sessionToken, request, reply, deps);
      return goTo(outcome.next ?? "/", request, reply, deps);
    case "waits_for_factor":
      return enter(outcome.sessionToken, withNext(secondFactorPath, confirmPath), request, reply, deps);
    case "wrong_password":
      return again(401, messagesOf(request, deps).singleSignOn.wrongPassword);
    case "linked_elsewhere":
    case "invalid":
      return sendProblem(outcome.is, request, reply, deps);
    default:
      return unreachable(outcome);
  }
}

async function unlink(request: FastifyRequest, reply: FastifyReply, deps: SignOnDeps): Promise<FastifyReply> {
  const password = textOf(await receiveForm(request, deps.bodyBudget), "password");
  const userId = userOf(request).id;
  try {
    const outcome = await deps.accounts.unlinkIdentities({ userId, password, client: clientContextOf(request) });
    if (outcome === "wrong_password") {
      return await sendSettings(request, reply, deps, 422, messagesOf(request, deps).singleSignOn.wrongPassword);
    }
    return goTo(signOnSettingsPath, request, reply, deps);
  } catch (error) {
    return sendSettings(request, reply, deps, 429, waitSentence(error, request, reply, deps));
  }
}

function messagesOf(request: FastifyRequest, deps: SignOnDeps): Messages {
  return pageContext(request, deps, null).messages;
}

/** @returns what to say beside the field. @throws whatever is not the refusal of too many attempts. */
function waitSentence(error: unknown, request: FastifyRequest, reply: FastifyReply, deps: SignOnDeps): string {
  return messagesOf(request, deps).problems.tooManyAttempts({ count: waitAfter(error, reply) });
}

function sendConfirm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: SignOnDeps,
  status: number,
  link: LinkToConfirm,
  problem: string | null,
): FastifyReply {
  const page = pageContext(request, deps, confirmPath);
  return sendPage(reply, status, renderPage(confirmLinkView({ provider: deps.providerName, link, problem }, page)));
}

async function sendSettings(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: SignOnDeps,
  status: number,
  problem: string | null,
): Promise<FastifyReply> {
  const { singleSignOn } = deps.config;
  if (singleSignOn === undefined) throw new AppError("not_found", "not-found");
  const { id, hasPassword } = userOf(request);
  const issuer = new URL(singleSignOn.issuer).href;
  const identities = await deps.accounts.listIdentities(id);
  const linkedAt = identities
    .filter((identity) => URL.parse(identity.issuer)?.href === issuer)
    .map((one) => one.linkedAt);
  const model = { provider: deps.providerName, linkedAt, hasPassword, problem };
  return sendPage(reply, status, renderPage(signOnSettingsView(model, pageContext(request, deps, signOnSettingsPath))));
}
