import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import { confirmationPath, type EmailConfirmation, emailConfirmationView } from "./view.tsx";

const donePath = `${confirmationPath}/done`;

/** Without a session: the link may be opened elsewhere than where it was asked for. Whoever has it, has the mailbox. */
export function registerEmailConfirmationPages(server: FastifyInstance, deps: PageDeps): void {
  server.get(confirmationPath, { config: { access: "page", changesState: false } }, (request, reply) =>
    ask(request, reply, deps),
  );
  server.post(confirmationPath, { config: { access: "page", changesState: true } }, (request, reply) =>
    confirm(request, reply, deps),
  );
  server.get(donePath, { config: { access: "page", changesState: false } }, (request, reply) =>
    sendPage(reply, 200, renderPage(emailConfirmationView({ is: "changed" }, pageContext(request, deps, donePath)))),
  );
}

/** Scanners of mails follow links; they press no buttons. */
async function ask(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const token = queryOf(request, "token") ?? "";
  const email = await deps.accounts.findNewEmail(token);
  if (email === undefined) return send(request, reply, deps, 404, { is: "invalid" });
  return send(request, reply, deps, 200, { is: "asked", email, token });
}

async function confirm(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const outcome = await deps.accounts.confirmNewEmail(textOf(form, "token"), clientContextOf(request));
  if (outcome !== "changed") return send(request, reply, deps, outcome === "taken" ? 409 : 404, { is: outcome });
  return goTo(donePath, request, reply, deps);
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: EmailConfirmation,
): FastifyReply {
  // The address holds the link's token: nothing on the page repeats it but the form.
  return sendPage(reply, status, renderPage(emailConfirmationView(shown, pageContext(request, deps, null))));
}
