import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { isKindName } from "../../base/push-kinds.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import type { SurveyedPush } from "../../pushes/pushes.ts";
import { goTo } from "../answers.ts";
import { states } from "../dashboard/filter.ts";
import { renderPage } from "../page.ts";
import { idOf, type PageDeps, pageContext, queryOf } from "../page-scope.ts";
import { administratorOf, changing, reading } from "./administrator.ts";
import { adminPaths } from "./frame.tsx";
import { type PushesFilter, pushesPath, pushesView } from "./pushes-view.tsx";

const emailMax = 254;

export function registerAdminPushesPage(server: FastifyInstance, deps: PageDeps): void {
  server.get(adminPaths.pushes, { config: reading }, (request, reply) => sendPushes(request, reply, deps));
  server.post(`${adminPaths.pushes}/:id/expire`, { config: changing }, async (request, reply) => {
    // Read first: a form that is refused must not have ended anything.
    const form = await receiveForm(request, deps.bodyBudget);
    const id = idOf(request);
    const entry = deps.accounts.adminEntry("ended_push", String(id), administratorOf(request));
    const outcome = id === undefined ? "unknown" : await deps.pushes.endAsAdministrator(id, request.actor, entry);
    if (outcome === "unknown") throw new AppError("not_found", "not-found");
    const filter = filterOf((name) => textOf(form, name));
    return goTo(pushesPath(filter), request, reply, deps);
  });
}

/** Unknown messages are none; a number that is none begins with the newest. */
function filterOf(value: (name: string) => string | undefined): PushesFilter {
  const before = value("before") ?? "";
  const kind = value("kind");
  return {
    kind: isKindName(kind) ? kind : null,
    state: states.find((state) => state === value("state")) ?? "all",
    owner: (value("owner") ?? "").trim().slice(0, emailMax),
    beforeId: /^\d{1,15}$/.test(before) ? Number(before) : null,
  };
}

async function sendPushes(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const filter = filterOf((name) => queryOf(request, name));
  const owner = filter.owner === "" ? null : await deps.accounts.findUserByEmail(filter.owner);
  const found =
    owner === undefined
      ? { pushes: [], nextBeforeId: null }
      : await deps.pushes.survey({ ...filter, ownerId: owner?.id ?? null });
  const model = {
    ...{ filter, ...found, unknownOwner: owner === undefined },
    owners: await ownersOf(found.pushes, deps),
    nowMs: deps.clock.now(),
  };
  return sendPage(reply, 200, renderPage(pushesView(model, pageContext(request, deps, pushesPath(filter)))));
}

/** Numbers of owners -> their e-mails; whoever is missing has been deleted. */
async function ownersOf(pushes: readonly SurveyedPush[], { accounts }: PageDeps): Promise<ReadonlyMap<number, string>> {
  const ids = new Set(pushes.map(({ ownerId }) => ownerId).filter((id) => id !== null));
  const users = await Promise.all([...ids].map((id) => accounts.findUser(id)));
  return new Map(users.filter((user) => user !== undefined).map(({ id, email }) => [id, email]));
}
