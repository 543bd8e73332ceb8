import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo, waitAfter } from "../answers.ts";
import { answerWhenClosed } from "../entry.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import {
  type AskResetModel,
  askResetView,
  type NewPasswordModel,
  newPasswordView,
  noResetView,
  voidResetView,
} from "./view.tsx";

const askPath = "/users/password/new";
const newPath = "/users/password/edit";

export function registerResetPasswordPages(server: FastifyInstance, deps: PageDeps): void {
  const reading = { access: "page", changesState: false } as const;
  const changing = { access: "page", changesState: true } as const;
  server.get(askPath, { config: reading }, (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? sendAsk(200, { email: "", sent: false, waitSeconds: null }, request, reply, deps);
  });
  server.post(askPath, { config: changing }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? ask(request, reply, deps);
  });
  server.get(newPath, { config: reading }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    if (closed !== undefined) return closed;
    const token = queryOf(request, "reset_password_token");
    if (token === undefined) return goTo(askPath, request, reply, deps);
    if (!(await deps.accounts.isResettable(token))) return sendVoid(request, reply, deps);
    return sendNew(200, { token, problem: null }, request, reply, deps);
  });
  server.post(newPath, { config: changing }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? setNew(request, reply, deps);
  });
}

async function ask(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const email = textOf(form, "email");
  if (!deps.config.accounts.emails)
    return sendAsk(403, { email, sent: false, waitSeconds: null }, request, reply, deps);
  const language = pageContext(request, deps, null).messages.locale.tag;
  try {
    await deps.accounts.requestReset({ email, language, client: clientContextOf(request) });
    return sendAsk(200, { email, sent: true, waitSeconds: null }, request, reply, deps);
  } catch (error) {
    return sendAsk(429, { email, sent: false, waitSeconds: waitAfter(error, reply) }, request, reply, deps);
  }
}

/** Ends this browser's session with all the others. Nobody is signed in by it: a second factor is still asked for. */
async function setNew(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const token = textOf(form, "reset_password_token");
  const outcome = await deps.accounts.resetPassword({
    ...{ token, password: textOf(form, "password"), client: clientContextOf(request) },
  });
  if (outcome === "changed") return goTo("/users/sign_in?done=password_changed", request, reply, deps);
  if (outcome === "invalid_link") return sendVoid(request, reply, deps);
  return sendNew(422, { token, problem: outcome }, request, reply, deps);
}

function sendAsk(
  status: number,
  model: AskResetModel,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): FastifyReply {
  const page = pageContext(request, deps, request.method === "GET" ? askPath : null);
  return sendPage(
    reply,
    status,
    renderPage(deps.config.accounts.emails ? askResetView(model, page) : noResetView(page)),
  );
}

function sendNew(
  status: number,
  model: NewPasswordModel,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): FastifyReply {
  const isGet = request.method === "GET";
  const selfPath = isGet ? `${newPath}?reset_password_token=${encodeURIComponent(model.token)}` : null;
  return sendPage(reply, status, renderPage(newPasswordView(model, pageContext(request, deps, selfPath))));
}

function sendVoid(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): FastifyReply {
  return sendPage(reply, 404, renderPage(voidResetView(pageContext(request, deps, null))));
}
