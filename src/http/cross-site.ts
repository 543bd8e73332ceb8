import type { FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { digest, equalDigests } from "../crypto/digests.ts";
import type { FormFields } from "./body/form-fields.ts";

/** The hidden field that proves that a form comes from a page of this session or this browser. */
export const formTokenField = "form_token";

/**
 * Refuses a state change that another site caused (threat: a form on another site that posts with the visitor's session).
 * `Sec-Fetch-Site` decides if the browser sends it; otherwise `Origin` must be this server's. Old browsers send neither
 * over plain http, and send `Origin: null` for this server's own forms, because its pages forbid referrers.
 * @returns whether the request certainly comes from this server's pages. If not, a request with a session needs the form
 * token, and so does one that would begin a session (threat: the visitor is signed in to the attacker's account). Any other
 * forged request gains nothing without a session: it may be sent without cookies. @throws AppError forbidden.
 */
export function isFromOwnSite(request: FastifyRequest): boolean {
  const { headers } = request.raw;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) {
    if (site === "same-origin" || site === "none") return true;
    throw crossSiteRefusal();
  }
  const { origin } = headers;
  if (origin === undefined || origin === "null") return false;
  const requested = `${request.client.https ? "https" : "http"}://${request.client.host.toLowerCase()}`;
  if (origin === request.baseUrl || origin === requested) return true;
  throw crossSiteRefusal();
}

/** A form without the form token that the request needs. It must not take effect; the person may check it and send it again. */
export class FormTokenRefusal extends AppError {
  readonly form: FormFields;

  constructor(form: FormFields) {
    super("forbidden", crossSiteMessage);
    this.form = form;
  }
}

const crossSiteMessage = "This request came from another site.";

/** Ask it before the form takes effect. */
export function hasNeededFormToken(request: FastifyRequest, fields: FormFields): boolean {
  if (!request.needsFormToken) return true;
  const given = fields[formTokenField];
  // A form may have been loaded before a session began.
  const valid = [request.formToken, request.entryFormToken];
  return (
    typeof given === "string" && valid.some((token) => token !== null && equalDigests(digest(given), digest(token)))
  );
}

export function crossSiteRefusal(): AppError {
  return new AppError("forbidden", crossSiteMessage);
}
