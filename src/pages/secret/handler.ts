import type { FastifyReply } from "fastify";
import { unreachable } from "../../base/errors.ts";
import { mayBeViewable } from "../../base/viewable-type.ts";
import { makeOpaqueToken } from "../../crypto/tokens.ts";
import { zipPath } from "../../http/downloads.ts";
import { formIdempotencyKey } from "../../http/parameters.ts";
import type { Actor, ClaimOutcome, Push } from "../../pushes/pushes.ts";
import { renderGone } from "../gone.tsx";
import type { PageRequest } from "../request.ts";
import { type StepModel, stepView, type Viewer } from "./step-view.tsx";
import { secretView } from "./view.tsx";

/**
 * The pages behind a secret link: `/p/:token`, and `/p/:token/r` for links that always show the retrieval step. A GET
 * claims a view only if the push needs neither a retrieval step nor a passphrase nor a key that only the browser has; otherwise
 * the step's POST claims it.
 */
export async function showPush(page: PageRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  const push = urlToken === undefined ? undefined : await page.services.pushes.find(urlToken, page.actor);
  if (urlToken === undefined || push === undefined) return renderGone(page);
  if (!push.expired && (asksForStep(page) || hasStep(push))) return renderStep(page, push, 200);
  return await claim(page, urlToken, {});
}

/** The link always shows the retrieval step. */
function asksForStep({ request }: PageRequest): boolean {
  return request.routeOptions.url === "/p/:token/r";
}

export async function claimByForm(page: PageRequest): Promise<FastifyReply> {
  const form = await page.form();
  const { passphrase } = form;
  const { urlToken } = page;
  if (urlToken === undefined) return renderGone(page);
  return await claim(page, urlToken, {
    ...(typeof passphrase === "string" && { passphrase }),
    idempotencyKey: formIdempotencyKey(form),
  });
}

async function claim(
  page: PageRequest,
  urlToken: string,
  sent: { readonly passphrase?: string; readonly idempotencyKey?: string | undefined },
): Promise<FastifyReply> {
  const request = { counting: "strangers", reserveAnswer: page.reserveAnswer, tellsLastView: true } as const;
  const claimed = await page.services.pushes.claimView(urlToken, { ...request, ...sent }, page.actor);
  switch (claimed.outcome) {
    case "revealed":
      return renderSecret(page, claimed);
    case "passphrase_required":
      return renderStep(page, claimed.push, 401);
    case "wrong_passphrase":
      return renderStep(page, claimed.push, 401, { reason: "wrong" });
    case "too_many_attempts": {
      const { retryAfterSeconds } = claimed;
      page.retryAfter(retryAfterSeconds);
      return renderStep(page, null, 429, { reason: "too_many", retryAfterSeconds });
    }
    case "key_used":
      return renderStep(page, claimed.push, 422, { reason: "used" });
    case "gone":
    case "unknown":
      return renderGone(page);
    default:
      return unreachable(claimed);
  }
}

async function renderStep(
  page: PageRequest,
  push: Push | null,
  status: number,
  refusal: StepModel["refusal"] = null,
): Promise<FastifyReply> {
  const path = `/p/${page.urlToken ?? ""}${asksForStep(page) ? "/r" : ""}`;
  const model = {
    action: path,
    // Browsers send it again when the opened page is reloaded.
    idempotencyKey: makeOpaqueToken(page.services.random),
    retrySeconds: page.services.config.claimRetrySeconds,
    passphraseRequired: push?.passphraseRequired ?? true,
    refusal,
    viewsRemaining: push?.viewsRemaining ?? null,
    endToEnd: push?.endToEnd ?? null,
    expiresAt: push?.expiresAt ?? null,
    viewer: push === null ? "recipient" : viewerOf(push, page.actor),
    sender: push === null ? null : await page.services.pushes.findSender(push),
    auditPath:
      push !== null && isOwn(push, page.actor) && !page.context().recipientsOnly ? `/p/${push.urlToken}/audit` : null,
  } as const;
  return page.render(stepView, model, { status, selfPath: path, compressible: true });
}

/** A URL of these characters goes into the Location header unchanged; any other one as a browser would write it. */
const headerSafe = /^[!-~]+$/;

/** @returns undefined for what no form here accepts, but an import may have brought: the page shows it as text. */
function redirectTarget(payload: string): string | undefined {
  const parsed = URL.parse(payload);
  if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:") return undefined;
  return headerSafe.test(payload) ? payload : parsed.href;
}

function renderSecret(
  page: PageRequest,
  { push, payload, fields, files, sender, earlierViews, repeated }: Extract<ClaimOutcome, { outcome: "revealed" }>,
): FastifyReply {
  // The content security policy stops a form's POST that redirects to another site, so only a GET redirects.
  const target = push.kind === "url" && files.length === 0 && page.isGet ? redirectTarget(payload) : undefined;
  if (target !== undefined) return page.redirectToUrl(target);
  const { config } = page.services;
  const viewer = viewerOf(push, page.actor);
  const ended = viewer === "recipient" && push.viewsRemaining === 0;
  return page.render(secretView, {
    kind: push.kind,
    endToEnd: push.endToEnd,
    payload,
    fields,
    files: files.map(({ filename, contentType, sizeBytes, ticket }) => ({
      filename,
      sizeBytes,
      href: `/files/${ticket}`,
      viewHref: push.endToEnd === null && mayBeViewable(contentType) ? `/files/${ticket}/view` : null,
    })),
    zipHref:
      (files.length > 1 && push.endToEnd === null ? zipPath(files.map(({ ticket }) => ticket)) : undefined) ?? null,
    ticketTtlSeconds: config.files.ticketTtlSeconds,
    blur: config.kinds[push.kind].blur,
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    viewer,
    sender,
    earlierViews: viewer === "recipient" ? earlierViews : null,
    repeated,
    deletePath: !ended && mayDelete(push, page.actor) ? `/p/${push.urlToken}/expire` : null,
  });
}

/** Its link opens nothing before a click, so that a link preview uses up no view. */
export function hasStep({ retrievalStep, passphraseRequired, endToEnd }: Push): boolean {
  return retrievalStep || passphraseRequired || endToEnd !== null;
}

export function mayDelete(push: Push, actor: Actor): boolean {
  return push.deletableByViewer || isOwn(push, actor);
}

export function isOwn(push: Push, actor: Actor): boolean {
  return actor.user !== null && push.ownerId !== null && push.ownerId === actor.user.id;
}

function viewerOf(push: Push, actor: Actor): Viewer {
  if (push.isAnswer) return "recipient";
  if (isOwn(push, actor)) return "owner";
  return actor.user?.admin === true ? "administrator" : "recipient";
}
