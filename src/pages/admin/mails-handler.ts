import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { sendPage } from "../../http/headers.ts";
import { pageOf } from "../../http/parameters.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { idOf, type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import { administratorOf, changing, reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { type MailsModel, mailsView } from "./mails-view.tsx";

export function registerMailsPage(server: FastifyInstance, deps: PageDeps): void {
  const { mail, accounts } = deps;
  const entry = (action: "retried_mail" | "discarded_mail", id: number, request: FastifyRequest) =>
    accounts.adminEntry(action, String(id), administratorOf(request));
  server.get(adminPaths.mails, { config: reading }, (request, reply) =>
    sendMails(request, reply, deps, 200, queryOf(request, "queued") === "1" ? "queued" : null),
  );
  server.post(`${adminPaths.mails}/:id/retry`, { config: changing }, async (request, reply) => {
    const id = idOf(request);
    const outcome = id === undefined ? "unknown" : await mail.retry(id, entry("retried_mail", id, request));
    if (outcome !== "queued") return sendMails(request, reply, deps, outcome === "unknown" ? 404 : 422, outcome);
    return goTo(`${adminPaths.mails}?queued=1`, request, reply, deps);
  });
  server.post(`${adminPaths.mails}/:id/discard`, { config: changing }, async (request, reply) => {
    const id = idOf(request);
    const discarded = id !== undefined && (await mail.discard(id, entry("discarded_mail", id, request)));
    if (!discarded) throw new AppError("not_found", "not-found");
    return goTo(adminPaths.mails, request, reply, deps);
  });
}

async function sendMails(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  outcome: MailsModel["outcome"],
): Promise<FastifyReply> {
  const page = request.method === "GET" ? pageOf(request) : 1;
  const model: MailsModel = {
    ...{ outcome, page, letters: await deps.mail.failedEmails(page), nowMs: deps.clock.now() },
    isOff: deps.config.mail === undefined,
  };
  const selfPath = request.method === "GET" ? adminPaths.mails : null;
  return sendPage(reply, status, renderPage(mailsView(model, pageContext(request, deps, selfPath))));
}
