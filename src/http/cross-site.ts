import type { FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { digest, equalDigests } from "../crypto/digests.ts";
import type { FormFields } from "./body/form-fields.ts";

/** The hidden field by which a form proves that a page of this session made it. */
export const formTokenField = "form_token";

/**
 * Refuses a state change that another site caused (threat: a form elsewhere that posts with the visitor's session).
 * `Sec-Fetch-Site` decides where the browser sends it; otherwise `Origin` must be ours. Old browsers send neither over
 * plain http, and for our own forms, whose pages forbid referrers, say `Origin: null`, which tells nothing.
 * @returns whether it is certain that the request is from our own site. If not, it needs the form token as soon as it
 * comes with a session; without one it has no authority to borrow. @throws AppError forbidden.
 */
export function isFromOwnSite(request: FastifyRequest): boolean {
  const { headers } = request.raw;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) {
    if (site === "same-origin" || site === "none") return true;
    throw fromElsewhere();
  }
  const { origin } = headers;
  if (origin === undefined || origin === "null") return false;
  const asked = `${request.client.https ? "https" : "http"}://${request.client.host.toLowerCase()}`;
  if (origin === request.baseUrl || origin === asked) return true;
  throw fromElsewhere();
}

/** Call it before anything of the form takes effect. @throws AppError forbidden. */
export function assertFormToken(request: FastifyRequest, fields: FormFields): void {
  if (!request.owesFormToken) return;
  const given = fields[formTokenField];
  const { formToken } = request;
  if (typeof given !== "string" || formToken === null || !equalDigests(digest(given), digest(formToken))) {
    throw fromElsewhere();
  }
}

export function fromElsewhere(): AppError {
  return new AppError("forbidden", "This request came from another site.");
}
