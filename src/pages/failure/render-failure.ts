import type { FastifyRequest } from "fastify";
import type { Refusal } from "../../http/errors.ts";
import { renderPage } from "../page.ts";
import { type FrameDeps, pageContext } from "../page-scope.ts";
import { failureView } from "./view.tsx";

/** The page for a refused request. It offers no way back to its address, which may hold a secret link. */
export function renderFailure(refusal: Refusal, request: FastifyRequest, deps: FrameDeps): string {
  const { status, retryAfterSeconds } = refusal;
  const model = { status, requestId: request.id, retryAfterSeconds: Math.max(1, retryAfterSeconds ?? 1) };
  return renderPage(failureView(model, pageContext(request, deps, null)));
}
