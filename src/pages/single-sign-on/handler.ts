import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { AppError, unreachable } from "../../base/errors.ts";
import { secondFactorPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { enter } from "../entry.ts";
import { pageHref, renderPage } from "../page.ts";
import type { PageDeps } from "../page-scope.ts";
import { clientContextOf, pageContext } from "../page-scope.ts";
import { ownPath, withNext } from "../return-path.ts";
import { confirmPath } from "./confirm-view.tsx";
import { registerLinkPages } from "./link-handler.ts";
import { leaveView } from "./message-views.tsx";
import { endStep, type SignOnDeps, sendProblem, signOnDeps } from "./sign-on-scope.ts";

const signOnPath = "/users/auth/oidc";

export function registerSingleSignOnPages(server: FastifyInstance, pageDeps: PageDeps): void {
  const deps = signOnDeps(pageDeps);
  server.post(signOnPath, { config: { access: "page", changesState: true } }, (request, reply) =>
    begin(request, reply, deps, "to sign in"),
  );
  server.post(
    `${signOnSettingsPath}/link`,
    { config: { access: "page_session", changesState: true } },
    (request, reply) => begin(request, reply, deps, "to link"),
  );
  // What ties it to a sign-on that began in this browser is the step's cookie and the state; a prefetch must not use it up.
  const returning = { access: "page", changesState: false, retrieval: true } as const;
  server.get(`${signOnPath}/callback`, { config: returning }, (request, reply) => complete(request, reply, deps));
  registerLinkPages(server, deps);
}

async function begin(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: SignOnDeps,
  purpose: "to sign in" | "to link",
): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const page = pageContext(request, deps, null);
  const asked = ownPath(textOf(form, "next"));
  // The provider brings nobody's wish for a language back.
  const next = asked === null && !page.localeAsked ? null : pageHref(page, asked ?? "/");
  const linkTo = purpose === "to link" ? request.session : null;
  try {
    const { url, stepToken } = await deps.accounts.beginSignOn({ next, linkTo, client: clientContextOf(request) });
    reply.header("set-cookie", deps.stepCookies.made(stepToken, request.client));
    return sendPage(reply, 200, renderPage(leaveView({ provider: deps.providerName, url }, page)));
  } catch (error) {
    return sendUnreachable(error, request, reply, deps);
  }
}

async function complete(request: FastifyRequest, reply: FastifyReply, deps: SignOnDeps): Promise<FastifyReply> {
  const url = request.raw.url ?? "";
  const query = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  const stepToken = deps.stepCookies.find(request.raw, request.client);
  const { session } = request;
  try {
    const outcome = await deps.accounts.completeSignOn({ stepToken, query, session, client: clientContextOf(request) });
    switch (outcome.is) {
      case "signed_in": {
        const { sessionToken, waitsForFactor, next } = outcome;
        endStep(request, reply, deps);
        const after = waitsForFactor ? withNext(secondFactorPath, next) : (next ?? "/");
        return await enter(sessionToken, after, request, reply, deps);
      }
      case "to_confirm":
        reply.header("set-cookie", deps.stepCookies.made(outcome.stepToken, request.client));
        return goTo(confirmPath, request, reply, deps);
      case "linked_before":
        return goTo(signOnSettingsPath, request, reply, deps);
      case "invalid":
        if (outcome.error !== undefined) deps.events.singleSignOnRefused(request.id, outcome.error);
        return sendProblem("invalid", request, reply, deps);
      case "denied":
      case "unverified_email":
      case "no_account":
      case "linked_elsewhere":
        return sendProblem(outcome.is, request, reply, deps);
      default:
        return unreachable(outcome);
    }
  } catch (error) {
    return sendUnreachable(error, request, reply, deps);
  }
}

function sendUnreachable(error: unknown, request: FastifyRequest, reply: FastifyReply, deps: SignOnDeps): FastifyReply {
  if (!(error instanceof AppError) || error.code !== "unavailable") throw error;
  const route = request.routeOptions.url ?? "no route";
  deps.events.refusedUnavailable({ requestId: request.id, method: request.method, route }, error);
  reply.header("retry-after", String(error.retryAfterSeconds ?? 1));
  return sendProblem("unreachable", request, reply, deps);
}
