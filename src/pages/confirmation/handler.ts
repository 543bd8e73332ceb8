import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo, waitAfter } from "../answers.ts";
import { answerWhenClosed } from "../entry.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import {
  type ConfirmAgainModel,
  confirmAgainView,
  confirmView,
  noConfirmationView,
  voidConfirmationView,
} from "./view.tsx";

const path = "/users/confirmation";
const againPath = `${path}/new`;

export function registerConfirmationPages(server: FastifyInstance, deps: PageDeps): void {
  const reading = { access: "page", changesState: false } as const;
  const changing = { access: "page", changesState: true } as const;
  server.get(path, { config: reading }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    if (closed !== undefined) return closed;
    const token = queryOf(request, "confirmation_token");
    if (token === undefined) return goTo(againPath, request, reply, deps);
    if (!(await deps.accounts.isConfirmable(token))) return sendVoid(request, reply, deps);
    const page = pageContext(request, deps, `${path}?confirmation_token=${encodeURIComponent(token)}`);
    return sendPage(reply, 200, renderPage(confirmView(token, page)));
  });
  server.post(path, { config: changing }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    if (closed !== undefined) return closed;
    const form = await receiveForm(request, deps.bodyBudget);
    const userId = await deps.accounts.confirmAccount(textOf(form, "confirmation_token"));
    if (userId === undefined) return sendVoid(request, reply, deps);
    const isHere = request.user?.id === userId;
    return goTo(isHere ? "/users/edit?done=confirmed" : "/users/sign_in?done=confirmed", request, reply, deps);
  });
  server.get(againPath, { config: reading }, (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? sendAgain(200, { email: "", sent: false, waitSeconds: null }, request, reply, deps);
  });
  server.post(againPath, { config: changing }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? requestAgain(request, reply, deps);
  });
}

async function requestAgain(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const email = textOf(form, "email");
  if (!deps.config.accounts.emails) {
    return sendAgain(403, { email, sent: false, waitSeconds: null }, request, reply, deps);
  }
  const language = pageContext(request, deps, null).messages.locale.tag;
  try {
    await deps.accounts.requestConfirmation({ email, language, client: clientContextOf(request) });
    return sendAgain(200, { email, sent: true, waitSeconds: null }, request, reply, deps);
  } catch (error) {
    return sendAgain(429, { email, sent: false, waitSeconds: waitAfter(error, reply) }, request, reply, deps);
  }
}

function sendAgain(
  status: number,
  model: ConfirmAgainModel,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): FastifyReply {
  const page = pageContext(request, deps, request.method === "GET" ? againPath : null);
  const view = deps.config.accounts.emails ? confirmAgainView(model, page) : noConfirmationView(page);
  return sendPage(reply, status, renderPage(view));
}

function sendVoid(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): FastifyReply {
  const page = pageContext(request, deps, null);
  return sendPage(reply, 404, renderPage(voidConfirmationView(deps.config.accounts.emails, page)));
}
