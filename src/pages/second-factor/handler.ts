import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FactorGiven, WaitingSignIn } from "../../accounts/accounts.ts";
import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendJson, sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { passkeyAnswerOf, tellWait } from "../factors/change-request.ts";
import { getRelyingParty } from "../factors/passkey-handler.ts";
import { secondFactorOptionsPath, secondFactorPath } from "../factors/paths.ts";
import { relyingPartyOf } from "../factors/relying-party.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext, queryOf, sessionOf } from "../page-scope.ts";
import { ownPath, withNext } from "../return-path.ts";
import { registerPasskeySignIn } from "./passkey-sign-in-handler.ts";
import { type SecondFactorModel, secondFactorView } from "./view.tsx";

type Shown = Pick<SecondFactorModel, "next" | "refusal">;

export function registerSecondFactorPages(server: FastifyInstance, deps: PageDeps): void {
  const changing = { access: "page_waiting", changesState: true } as const;
  server.get(secondFactorPath, { config: { access: "page_waiting", changesState: false } }, (request, reply) =>
    sendChallenge(request, reply, deps, 200, { next: ownPath(queryOf(request, "next")), refusal: null }),
  );
  server.post(secondFactorPath, { config: changing }, (request, reply) => giveFactor(request, reply, deps));
  server.post(secondFactorOptionsPath, { config: changing }, async (request, reply) =>
    sendJson(reply, 200, await deps.accounts.offerOwnPasskeys(sessionOf(request), getRelyingParty(request))),
  );
  registerPasskeySignIn(server, deps);
}

async function giveFactor(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const next = ownPath(textOf(form, "next"));
  const waiting = waitingSignIn(request, deps);
  const page = pageContext(request, deps, null);
  const passkey = passkeyAnswerOf(request, form, "passkey");
  const backupCode = textOf(form, "backup_code");
  let given: FactorGiven;
  let reason: "wrong_passkey" | "wrong_backup_code" | "wrong_code";
  if (passkey !== null) {
    reason = "wrong_passkey";
    given = await deps.accounts.givePasskey(waiting, passkey);
  } else {
    reason = backupCode === "" ? "wrong_code" : "wrong_backup_code";
    given = await deps.accounts.giveCode(waiting, backupCode === "" ? textOf(form, "code") : backupCode);
  }
  switch (given.outcome) {
    case "complete":
      reply.header("set-cookie", deps.sessionCookies.made(given.sessionToken, request.client));
      return goTo(next ?? "/", request, reply, deps);
    case "over":
      return goTo(withNext(signInPath, next), request, reply, deps);
    case "wrong":
      return sendChallenge(request, reply, deps, 401, { next, refusal: { reason } });
    case "too_many": {
      tellWait(given.retryAfterSeconds, reply, page.messages);
      const minutes = Math.ceil(given.retryAfterSeconds / 60);
      return sendChallenge(request, reply, deps, 429, { next, refusal: { reason: "too_many", minutes } });
    }
  }
}

function waitingSignIn(request: FastifyRequest, deps: PageDeps): WaitingSignIn {
  const sessionToken = deps.sessionCookies.find(request.raw, request.client);
  if (sessionToken === undefined) throw new Error("A sign-in waits without the cookie that it was found by.");
  return { session: sessionOf(request), sessionToken, client: clientContextOf(request) };
}

async function sendChallenge(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Shown,
): Promise<FastifyReply> {
  const factors = await deps.accounts.findFactors(sessionOf(request).user.id);
  const model: SecondFactorModel = {
    ...shown,
    hasApp: factors.appAddedAt !== null,
    offersPasskey: factors.passkeys.length > 0 && relyingPartyOf(request.baseUrl) !== undefined,
  };
  const page = pageContext(request, deps, withNext(secondFactorPath, shown.next));
  return sendPage(reply, status, renderPage(secondFactorView(model, page)));
}
