import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { EntryProblems } from "../../accounts/accounts.ts";
import { unreachable } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo, waitAfter } from "../answers.ts";
import { answerWhenClosed, enter } from "../entry.ts";
import { firstRunPath } from "../first-run/handler.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext } from "../page-scope.ts";
import { signUpSentView, signUpView } from "./view.tsx";

const path = "/users/sign_up";

export interface SignUpModel {
  /** As typed, when the form is sent back; the password never is. */
  readonly email: string;
  readonly problems: EntryProblems;
  /** null: not one attempt too many. */
  readonly waitSeconds: number | null;
}

export function registerSignUpPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(path, { config: { access: "page", changesState: false } }, async (request, reply) => {
    const closed = answerWhenClosed("signing up", request, reply, deps);
    if (closed !== undefined) return closed;
    // The first account is the administrator's, and is made against the boot code.
    if (await deps.accounts.isFirstRun()) return goTo(firstRunPath, request, reply, deps);
    return send(200, { email: "", problems: {}, waitSeconds: null }, request, reply, deps);
  });
  server.post(path, { config: { access: "page", changesState: true } }, async (request, reply) => {
    const closed = answerWhenClosed("signing up", request, reply, deps);
    return closed ?? signUp(request, reply, deps);
  });
}

async function signUp(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const email = textOf(form, "email");
  const page = pageContext(request, deps, null);
  try {
    const answer = await deps.accounts.signUp({
      ...{
        email,
        password: textOf(form, "password"),
        language: page.messages.locale.tag,
        client: clientContextOf(request),
      },
    });
    switch (answer.outcome) {
      case "signed_in":
        return await enter(answer.sessionToken, "/", request, reply, deps);
      case "mail_sent":
        return sendPage(reply, 200, renderPage(signUpSentView(email.trim(), page)));
      case "first_run":
        return goTo(firstRunPath, request, reply, deps);
      case "refused":
        return send(422, { email, problems: answer.problems, waitSeconds: null }, request, reply, deps);
      default:
        return unreachable(answer);
    }
  } catch (error) {
    return send(429, { email, problems: {}, waitSeconds: waitAfter(error, reply) }, request, reply, deps);
  }
}

function send(
  status: number,
  model: SignUpModel,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): FastifyReply {
  const selfPath = request.method === "GET" ? path : null;
  return sendPage(reply, status, renderPage(signUpView(model, pageContext(request, deps, selfPath))));
}
