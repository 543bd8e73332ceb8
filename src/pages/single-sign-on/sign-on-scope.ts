import type { FastifyReply, FastifyRequest } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { createTokenCookies, type TokenCookies } from "../../http/session-cookie.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext } from "../page-scope.ts";
import { providerNameOf } from "./button.tsx";
import { problemView, type SignOnProblem } from "./message-views.tsx";

export interface SignOnDeps extends PageDeps {
  /** Hold the step's token, so that a sign-on ends in the browser where it began. */
  readonly stepCookies: TokenCookies;
  /** "" where there is none: then `accounts` refuses before any page is made. */
  readonly providerName: string;
}

const stepSeconds = 600;

export function signOnDeps(deps: PageDeps): SignOnDeps {
  const stepCookies = createTokenCookies(deps.config.secureCookies, { name: "sealpush_sign_on", seconds: stepSeconds });
  return { ...deps, stepCookies, providerName: providerNameOf(deps.config) ?? "" };
}

export function endStep(request: FastifyRequest, reply: FastifyReply, deps: SignOnDeps): void {
  reply.header("set-cookie", deps.stepCookies.ended(request.client));
}

const statusOf: Readonly<Record<SignOnProblem, number>> = {
  denied: 403,
  invalid: 400,
  unverified_email: 403,
  no_account: 403,
  linked_elsewhere: 403,
  unreachable: 503,
};

export function sendProblem(
  problem: SignOnProblem,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: SignOnDeps,
): FastifyReply {
  const view = problemView({ problem, provider: deps.providerName }, pageContext(request, deps, null));
  return sendPage(reply, statusOf[problem], renderPage(view));
}
