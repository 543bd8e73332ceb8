import type { FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";

/**
 * Refuses a state change that another site caused (threat: a form elsewhere that posts with the visitor's session).
 * `Sec-Fetch-Site` decides where the browser sends it. Otherwise `Origin` must be ours. Our pages forbid referrers, so
 * a browser says `Origin: null` for their own forms, which tells nothing; then, as with no Origin at all, a request
 * without a session cookie may pass, having no authority to borrow. One with a cookie may pass over plain http only,
 * where no browser sends `Sec-Fetch-Site`: there SameSite=Lax is what keeps the cookie from other sites' forms.
 * @throws AppError forbidden.
 */
export function refuseCrossSite(request: FastifyRequest, hasSessionCookie: boolean): void {
  const { headers } = request.raw;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) {
    if (site === "same-origin" || site === "none") return;
    throw foreign();
  }
  const origin = headers.origin;
  if (origin !== undefined && origin !== "null") {
    const asked = `${request.client.https ? "https" : "http"}://${request.client.host.toLowerCase()}`;
    if (origin === request.baseUrl || origin === asked) return;
    throw foreign();
  }
  if (hasSessionCookie && request.client.https) throw foreign();
}

function foreign(): AppError {
  return new AppError("forbidden", "This request came from another site.");
}
