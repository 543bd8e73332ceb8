import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { secondFactorPath, signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo, waitAfter } from "../answers.ts";
import { answerWhenClosed, enter } from "../entry.ts";
import { relyingPartyOf } from "../factors/relying-party.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import { ownPath, withNext } from "../return-path.ts";
import { providerNameOf } from "../single-sign-on/button.tsx";
import { signOutView } from "./sign-out-view.tsx";
import { type SignInDone, type SignInModel, type SignInRefusal, signInView } from "./view.tsx";

const signOutPath = "/users/sign_out";

export function registerSignInPages(server: FastifyInstance, deps: PageDeps): void {
  server.get(signInPath, { config: { access: "page", changesState: false } }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    if (closed !== undefined) return closed;
    const next = ownPath(queryOf(request, "next"));
    const done = doneOf(queryOf(request, "done"));
    return sendSignIn(request, reply, deps, 200, { email: "", next, refusal: null, done });
  });
  server.post(signInPath, { config: { access: "page", changesState: true } }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? signIn(request, reply, deps);
  });
  server.get(signOutPath, { config: { access: "page", changesState: false } }, (request, reply) =>
    request.user === null
      ? goTo(signInPath, request, reply, deps)
      : sendPage(reply, 200, renderPage(signOutView(request.user.email, pageContext(request, deps, signOutPath)))),
  );
  server.post(signOutPath, { config: { access: "page", changesState: true } }, async (request, reply) => {
    const sessionToken = deps.sessionCookies.find(request.raw, request.client);
    if (sessionToken !== undefined) await deps.accounts.signOut(sessionToken);
    reply.header("set-cookie", deps.sessionCookies.ended(request.client));
    return goTo("/", request, reply, deps);
  });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const email = textOf(form, "email");
  const next = ownPath(textOf(form, "next"));
  const sendBack = (status: number, refusal: SignInRefusal) =>
    sendSignIn(request, reply, deps, status, { email, next, refusal, done: null });
  try {
    const client = clientContextOf(request);
    const signedIn = await deps.accounts.signIn({ email, password: textOf(form, "password"), client });
    if (signedIn === undefined) return await sendBack(401, { reason: "wrong" });
    const after = signedIn.waitsForFactor ? withNext(secondFactorPath, next) : (next ?? "/");
    return await enter(signedIn.sessionToken, after, request, reply, deps);
  } catch (error) {
    return sendBack(429, { reason: "too_many", retryAfterSeconds: waitAfter(error, reply) });
  }
}

async function sendSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Pick<SignInModel, "email" | "next" | "refusal" | "done">,
): Promise<FastifyReply> {
  const { signupsDisabled, emails } = deps.config.accounts;
  const model: SignInModel = {
    ...shown,
    confirmations: emails,
    provider: providerNameOf(deps.config),
    passkeys: relyingPartyOf(request.baseUrl) !== undefined,
    signUps: !signupsDisabled,
    firstRun: await deps.accounts.isFirstRun(),
  };
  const selfPath = withNext(signInPath, model.next);
  return sendPage(reply, status, renderPage(signInView(model, pageContext(request, deps, selfPath))));
}

function doneOf(value: string | undefined): SignInDone | null {
  return value === "confirmed" || value === "password_changed" ? value : null;
}
