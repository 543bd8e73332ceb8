import { unreachable } from "../../base/errors.ts";
import { formIdempotencyKey } from "../../http/parameters.ts";
import type { Push } from "../../pushes/pushes.ts";
import { renderGone } from "../gone.tsx";
import type { PageRequest, Reply } from "../request.ts";
import { hasStep, type Revealed, type StepRefusal, secretModel, stepModel } from "./model.ts";
import { stepView } from "./step-view.tsx";
import { secretView } from "./view.tsx";

/**
 * The pages behind a secret link: `/p/:token`, and `/p/:token/r` for links that always show the retrieval step. A GET
 * claims a view only if the push needs neither a retrieval step nor a passphrase nor a key that only the browser has; otherwise
 * the step's POST claims it.
 */
export async function showPush(page: PageRequest): Promise<Reply> {
  const push = await page.findPush();
  if (push === undefined) return renderGone(page);
  if (!push.expired && (asksForStep(page) || hasStep(push))) return renderStep(page, push, 200);
  return await claim(page, push.urlToken, {});
}

/** The link always shows the retrieval step. */
function asksForStep({ request }: PageRequest): boolean {
  return request.routeOptions.url === "/p/:token/r";
}

export async function claimByForm(page: PageRequest): Promise<Reply> {
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
): Promise<Reply> {
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
  refusal: StepRefusal | null = null,
): Promise<Reply> {
  const model = await stepModel(page, push, refusal, asksForStep(page));
  return page.render(stepView, model, { status, selfPath: model.action, compressible: true });
}

/** A URL of these characters goes into the Location header unchanged; any other one as a browser would write it. */
const headerSafe = /^[!-~]+$/;

/** @returns undefined for what no form here accepts, but an import may have brought: the page shows it as text. */
function redirectTarget(payload: string): string | undefined {
  const parsed = URL.parse(payload);
  if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:") return undefined;
  return headerSafe.test(payload) ? payload : parsed.href;
}

function renderSecret(page: PageRequest, revealed: Revealed): Reply {
  const { push, payload, files } = revealed;
  // The content security policy stops a form's POST that redirects to another site, so only a GET redirects.
  const target = push.kind === "url" && files.length === 0 && page.isGet ? redirectTarget(payload) : undefined;
  return target === undefined ? page.render(secretView, secretModel(page, revealed)) : page.redirectToUrl(target);
}
