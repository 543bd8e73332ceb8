import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { unreachable } from "../../base/errors.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { isRobot } from "../../http/robots.ts";
import type { Actor, ClaimOutcome, Push } from "../../pushes/pushes.ts";
import { sendGone } from "../gone/handler.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, tokenOf } from "../page-scope.ts";
import { robotView } from "../robot/view.tsx";
import { type StepModel, stepView } from "../step/view.tsx";
import { type SecretModel, secretView } from "./view.tsx";

/** Such an address goes into the header as it was handed in; another one as a browser would write it. */
const headerSafe = /^[!-~]+$/;

type Revealed = Extract<ClaimOutcome, { outcome: "revealed" }>;

/**
 * The pages behind a secret link. A GET claims only where neither a retrieval step nor a passphrase stands before the
 * secret; everything else takes the step's POST.
 */
export function registerSecretPages(server: FastifyInstance, deps: PageDeps): void {
  const opening = { access: "page", changesState: false, retrieval: true } as const;
  const claiming = { access: "page", changesState: true, retrieval: true } as const;
  server.get("/p/:token", { config: opening }, (request, reply) => open(request, reply, deps, false));
  server.get("/p/:token/r", { config: opening }, (request, reply) => open(request, reply, deps, true));
  server.post("/p/:token", { config: claiming }, (request, reply) => claimByForm(request, reply, deps, false));
  server.post("/p/:token/r", { config: claiming }, (request, reply) => claimByForm(request, reply, deps, true));
}

async function open(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  asksForStep: boolean,
): Promise<FastifyReply> {
  if (isRobot(request.headers["user-agent"])) return sendRobotPage(request, reply, deps);
  const token = tokenOf(request);
  const push = token === undefined ? undefined : await deps.pushes.find(token, request.actor);
  if (token === undefined || push === undefined) return sendGone(request, reply, deps);
  if (!push.expired && (asksForStep || push.retrievalStep || push.passphraseRequired)) {
    return sendStep(request, reply, deps, { push, status: 200, refusal: null, asksForStep });
  }
  return await claim(request, reply, deps, { token, passphrase: undefined, asksForStep });
}

async function claimByForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  asksForStep: boolean,
): Promise<FastifyReply> {
  if (isRobot(request.headers["user-agent"])) return sendRobotPage(request, reply, deps);
  const { passphrase } = await receiveForm(request, deps.bodyBudget);
  const token = tokenOf(request);
  if (token === undefined) return sendGone(request, reply, deps);
  const given = typeof passphrase === "string" ? passphrase : undefined;
  return await claim(request, reply, deps, { token, passphrase: given, asksForStep });
}

async function claim(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  asked: { token: string; passphrase: string | undefined; asksForStep: boolean },
): Promise<FastifyReply> {
  const { token, passphrase, asksForStep } = asked;
  const claimed = await deps.pushes.claimView(
    token,
    passphrase === undefined ? { counting: "strangers" } : { passphrase, counting: "strangers" },
    request.actor,
  );
  switch (claimed.outcome) {
    case "revealed":
      return sendSecret(request, reply, deps, claimed);
    case "passphrase_required":
      return sendStep(request, reply, deps, { push: claimed.push, status: 401, refusal: null, asksForStep });
    case "wrong_passphrase": {
      const refusal = { reason: "wrong" } as const;
      return sendStep(request, reply, deps, { push: claimed.push, status: 401, refusal, asksForStep });
    }
    case "too_many_attempts": {
      const { retryAfterSeconds } = claimed;
      reply.header("retry-after", String(retryAfterSeconds));
      const refusal = { reason: "too_many", retryAfterSeconds } as const;
      return sendStep(request, reply, deps, { push: null, status: 429, refusal, asksForStep });
    }
    case "gone":
    case "unknown":
      return sendGone(request, reply, deps);
    default:
      return unreachable(claimed);
  }
}

function sendStep(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  shown: { push: Push | null; status: number; refusal: StepModel["refusal"]; asksForStep: boolean },
): FastifyReply {
  const { push, status, refusal, asksForStep } = shown;
  const path = `/p/${tokenOf(request) ?? ""}${asksForStep ? "/r" : ""}`;
  const model: StepModel = {
    action: path,
    passphraseRequired: push?.passphraseRequired ?? true,
    refusal,
    viewsRemaining: push?.viewsRemaining ?? null,
    expiresAt: push?.expiresAt ?? null,
    counted: push === null || isCounted(push, request.actor),
  };
  return sendPage(reply, status, renderPage(stepView(model, pageContext(request, deps, path))));
}

function sendSecret(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  { push, payload, files }: Revealed,
): FastifyReply {
  // A form's POST that redirects elsewhere would be stopped by the content security policy, so only a GET does.
  if (push.kind === "url" && files.length === 0 && request.method === "GET") {
    return reply.redirect(headerSafe.test(payload) ? payload : new URL(payload).href, 303);
  }
  const counted = isCounted(push, request.actor);
  const ended = counted && push.viewsRemaining === 0;
  const model: SecretModel = {
    kind: push.kind,
    payload,
    files: files.map(({ filename, sizeBytes, ticket }) => ({ filename, sizeBytes, href: `/files/${ticket}` })),
    ticketTtlSeconds: deps.config.files.ticketTtlSeconds,
    blur: deps.config.kinds[push.kind].blur,
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    counted,
    deletePath: !ended && mayDelete(push, request.actor) ? `/p/${push.urlToken}/expire` : null,
  };
  return sendPage(reply, 200, renderPage(secretView(model, pageContext(request, deps, null))));
}

function sendRobotPage(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): FastifyReply {
  return sendPage(reply, 200, renderPage(robotView(pageContext(request, deps, null))));
}

export function mayDelete(push: Push, actor: Actor): boolean {
  return push.deletableByViewer || isOwn(push, actor);
}

export function isOwn(push: Push, actor: Actor): boolean {
  return actor.user !== null && push.ownerId !== null && push.ownerId === actor.user.id;
}

/** On pages the views of owners and administrators are logged, not counted. */
function isCounted(push: Push, actor: Actor): boolean {
  return !isOwn(push, actor) && actor.user?.admin !== true;
}
