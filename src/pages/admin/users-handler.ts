import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Administrator, Change, FactorReset } from "../../accounts/accounts.ts";
import { AppError } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { pageOf } from "../../http/parameters.ts";
import { goTo } from "../answers.ts";
import { renderPage } from "../page.ts";
import { idOf, type PageDeps, pageContext, queryOf, userOf } from "../page-scope.ts";
import { administratorOf, changing, reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { type UserAction, type UsersModel, userActions, usersPath, usersView } from "./users-view.tsx";

const textMax = 254;

export function registerUsersPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(adminPaths.users, { config: reading }, (request, reply) => {
    const text = (queryOf(request, "q") ?? "").trim().slice(0, textMax);
    return sendUsers(request, reply, deps, 200, { text, page: pageOf(request), refusal: null });
  });
  for (const action of userActions) {
    server.post(`${adminPaths.users}/:id/${action}`, { config: changing }, (request, reply) =>
      act(action, request, reply, deps),
    );
  }
}

async function act(
  action: UserAction,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const text = textOf(form, "q").slice(0, textMax);
  const userId = idOf(request);
  if (userId === undefined) throw new AppError("not_found", "not-found");
  const outcome = await change(action, userId, administratorOf(request), deps);
  if (outcome.outcome !== "done") {
    const refusal =
      outcome.outcome === "unknown"
        ? { reason: outcome.outcome }
        : { reason: outcome.outcome, email: outcome.user.email };
    return sendUsers(request, reply, deps, outcome.outcome === "unknown" ? 404 : 422, { text, page: 1, refusal });
  }
  // Who has just removed himself finds no such page: he goes to the start.
  const leaves = userId === userOf(request).id && action !== "promote" && action !== "enable";
  return goTo(leaves ? "/" : usersPath(text, 1), request, reply, deps);
}

async function change(
  action: UserAction,
  userId: number,
  by: Administrator,
  deps: PageDeps,
): Promise<Change | FactorReset> {
  const { accounts } = deps;
  switch (action) {
    case "promote":
      return accounts.setAdmin(userId, true, by);
    case "demote":
      return accounts.setAdmin(userId, false, by);
    case "disable":
      return accounts.setDisabled(userId, true, by);
    case "enable":
      return accounts.setDisabled(userId, false, by);
    case "delete":
      return deps.deleteAccount(userId, by);
    case "reset_factors":
      return accounts.resetFactors(userId, by);
  }
}

async function sendUsers(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Pick<UsersModel, "text" | "page" | "refusal">,
): Promise<FastifyReply> {
  const model: UsersModel = {
    ...shown,
    users: await deps.accounts.searchUsers(shown.text, shown.page),
    ownId: userOf(request).id,
    nowMs: deps.clock.now(),
  };
  const context = pageContext(request, deps, request.method === "GET" ? usersPath(shown.text, shown.page) : null);
  return sendPage(reply, status, renderPage(usersView(model, context)));
}
