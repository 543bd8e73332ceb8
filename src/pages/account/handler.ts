import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { clientContextOf, idOf, type PageDeps, pageContext, queryOf, sessionOf } from "../page-scope.ts";
import { changeDefaults, changeEmail, changeLanguage, changePassword, requestConfirmation } from "./changes.ts";
import { sendData } from "./data.ts";
import { deletedView } from "./deleted-view.tsx";
import { accountPath, doneNames } from "./model.ts";
import { notConfirmed, redirectDone, sendAccount, withWaitTold } from "./show.ts";

const deletedPath = "/users/deleted";

type Step = (request: FastifyRequest, reply: FastifyReply, deps: PageDeps) => Promise<FastifyReply>;

export function registerAccountPages(server: FastifyInstance, deps: PageDeps): void {
  const reading = { access: "page_session", changesState: false } as const;
  const changing = { access: "page_session", changesState: true } as const;
  server.get(accountPath, { config: reading }, (request, reply) => {
    const asked = queryOf(request, "done");
    return sendAccount(request, reply, deps, { done: doneNames.find((name) => name === asked) ?? null });
  });
  server.get(`${accountPath}/data`, { config: reading }, (request, reply) => sendData(request, reply, deps));
  const steps: Readonly<Record<string, Step>> = {
    email: changeEmail,
    "email/confirmation": requestConfirmation,
    password: changePassword,
    language: changeLanguage,
    defaults: changeDefaults,
    delete: deleteAccount,
    "sessions/end_others": endOtherSessions,
    "sessions/:id/end": endSession,
  };
  for (const [path, step] of Object.entries(steps)) {
    server.post(`${accountPath}/${path}`, { config: changing }, (request, reply) => step(request, reply, deps));
  }
  server.get(deletedPath, { config: { access: "page", changesState: false } }, (request, reply) =>
    sendPage(reply, 200, renderPage(deletedView(pageContext(request, deps, deletedPath)))),
  );
}

async function endSession(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const id = idOf(request);
  const { user } = sessionOf(request);
  const ended = id !== undefined && (await deps.accounts.endSession(user.id, id));
  if (!ended) throw new AppError("not_found", "not-found");
  return redirectDone(request, reply, deps, "session");
}

async function endOtherSessions(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const { id, user } = sessionOf(request);
  await deps.accounts.endOtherSessions(user.id, id);
  return redirectDone(request, reply, deps, "sessions");
}

async function deleteAccount(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const session = sessionOf(request);
  const refuse = (problem: string) =>
    sendAccount(request, reply, deps, { status: 422, problems: { delete_password: problem } });
  return await withWaitTold(request, reply, deps, "delete_password", async () => {
    const confirmed = await deps.accounts.confirmIdentity(session, textOf(form, "password"), clientContextOf(request));
    if (!confirmed) return await refuse(notConfirmed(request, deps));
    const page = pageContext(request, deps, null);
    const change = await deps.deleteAccount(session.user.id, null);
    if (change.outcome === "last_admin") return await refuse(page.messages.profile.delete.lastAdmin);
    reply.header("set-cookie", deps.sessionCookies.ended(request.client));
    return goTo(deletedPath, request, reply, deps);
  });
}
