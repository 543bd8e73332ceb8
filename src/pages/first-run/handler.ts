import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FirstRunProblems } from "../../accounts/accounts.ts";
import { unreachable } from "../../base/errors.ts";
import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo, waitAfter } from "../answers.ts";
import { answerWhenClosed, enter } from "../entry.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext } from "../page-scope.ts";
import { firstRunView } from "./view.tsx";

export const firstRunPath = "/first_run";

export interface FirstRunModel {
  /** As typed, when the form is sent back; the boot code and the password never are. */
  readonly email: string;
  readonly problems: FirstRunProblems;
  /** null: not one attempt too many. */
  readonly waitSeconds: number | null;
}

/** Once somebody has an account it leads to the sign-in page: whoever comes by an old bookmark wants to go in. */
export function registerFirstRunPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(firstRunPath, { config: { access: "page", changesState: false } }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    if (closed !== undefined) return closed;
    if (!(await deps.accounts.isFirstRun())) return goTo(signInPath, request, reply, deps);
    return send(200, { email: "", problems: {}, waitSeconds: null }, request, reply, deps);
  });
  server.post(firstRunPath, { config: { access: "page", changesState: true } }, async (request, reply) => {
    const closed = answerWhenClosed("signing in", request, reply, deps);
    return closed ?? create(request, reply, deps);
  });
}

async function create(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const email = textOf(form, "email");
  const asked = { email, bootCode: textOf(form, "boot_code"), password: textOf(form, "password") };
  try {
    const answer = await deps.accounts.createFirstAdministrator({ ...asked, client: clientContextOf(request) });
    switch (answer.outcome) {
      case "made":
        return await enter(answer.sessionToken, "/", request, reply, deps);
      case "over":
        return goTo(signInPath, request, reply, deps);
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
  model: FirstRunModel,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): FastifyReply {
  const selfPath = request.method === "GET" ? firstRunPath : null;
  return sendPage(reply, status, renderPage(firstRunView(model, pageContext(request, deps, selfPath))));
}
