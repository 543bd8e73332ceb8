import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, errorCode, type FieldProblems, type RefusalCode } from "../base/errors.ts";
import { StoredFileError } from "../pushes/pushes.ts";
import type { Events } from "../telemetry/events.ts";
import { discardBody } from "./discard-body.ts";
import { sendJson, sendPage } from "./headers.ts";
import { isScimPath, scimError, sendScim } from "./scim-answers.ts";

/** The answer to a refused request. Only this file maps refusals to status codes. */
export interface Refusal {
  readonly status: number;
  /** undefined: an error of the framework, or a bug. */
  readonly code?: RefusalCode;
  readonly message: string;
  readonly fields: FieldProblems | undefined;
  /** One more sentence in a JSON answer. */
  readonly explanation?: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** Renders the HTML of a refusal on a page's path. It must not throw. */
export type RenderError = (refusal: Refusal, request: FastifyRequest) => string;

const statusOf: Readonly<Record<RefusalCode, number>> = {
  invalid_request: 400,
  not_authenticated: 401,
  forbidden: 403,
  factor_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  ended: 410,
  too_large: 413,
  too_slow: 408,
  unsupported_media_type: 415,
  invalid_fields: 422,
  too_many_requests: 429,
  bytes_used_up: 429,
  unavailable: 503,
};

/** The framework's own errors. Their messages may quote the request, so they are replaced. */
const frameworkRefusals: ReadonlyMap<string, readonly [status: number, message: string]> = new Map([
  ["FST_ERR_BAD_URL", [400, "The path is not a valid URL path."]],
  ["FST_ERR_MAX_PARAM_LENGTH", [404, "not-found"]],
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", [415, "That media type is not supported."]],
  ["FST_ERR_CTP_BODY_TOO_LARGE", [413, "The body is too large."]],
  ["FST_ERR_CTP_INVALID_CONTENT_LENGTH", [400, "The body does not have the length it declared."]],
  ["FST_ERR_ROUTE_MISSING_CONTENT_TYPE", [400, "The Content-Type header is missing."]],
]);

const retryAfterSecondsDefault = 5;

/** @returns undefined for an error that is not a refusal: a bug. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof AppError) {
    const { code, message, fields, retryAfterSeconds, explanation } = error;
    const status = statusOf[code];
    const mayRetry = status === 503 || status === 429;
    return {
      status,
      code,
      message: code === "not_found" ? "not-found" : message,
      fields,
      explanation,
      retryAfterSeconds: mayRetry ? (retryAfterSeconds ?? retryAfterSecondsDefault) : undefined,
    };
  }
  const known = frameworkRefusals.get(errorCode(error) ?? "");
  if (known === undefined) return undefined;
  return { status: known[0], message: known[1], fields: undefined, retryAfterSeconds: undefined };
}

interface ErrorDeps {
  readonly events: Events;
  readonly renderError: RenderError;
}

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, deps: ErrorDeps): void {
  const refusal = refusalOf(error) ?? unexpected(request.id);
  if (!reportStoredFile(error, request, deps.events) && refusal.status >= 500)
    report(error, refusal, request, deps.events);
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  if (refusal.status === statusOf.too_slow) reply.header("connection", "close");
  else discardBody(request.raw, reply.raw);
  answerRefusal(refusal, request, reply, deps.renderError);
}

export function answerRefusal(
  refusal: Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
  renderError: RenderError,
): FastifyReply {
  // Overrides what the handler has set: a refusal may be temporary.
  reply.header("cache-control", "no-store");
  if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", String(refusal.retryAfterSeconds));
  if (isJsonPath(request.raw.url ?? "")) {
    if (refusal.status === 401) reply.header("www-authenticate", "Bearer");
    if (isScimPath(request.raw.url ?? "")) {
      const { status, message } = refusal;
      return sendScim(
        reply,
        status,
        scimError({ status, detail: message, ...(status === 400 && { scimType: "invalidSyntax" }) }),
      );
    }
    return sendJson(reply, refusal.status, refusalBody(refusal));
  }
  return sendPage(reply, refusal.status, renderError(refusal, request));
}

/** 422: an object of snake_case field names and their sentences. All others: `{"error": "..."}`, with an explanation `message`. */
function refusalBody({ fields, message, explanation }: Refusal): object {
  if (fields === undefined) return { error: message, ...(explanation === undefined ? {} : { message: explanation }) };
  return Object.fromEntries(Object.entries(fields).map(([field, problems]) => [wireName(field), problems]));
}

export type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : Name;

/** `expireAfterDays` -> `expire_after_days`. */
export function wireName<Name extends string>(name: Name): WireName<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as WireName<Name>;
}

/** Paths that answer JSON regardless of `Accept`. */
export function isJsonPath(url: string): boolean {
  const query = url.indexOf("?");
  const path = query === -1 ? url : url.slice(0, query);
  return (
    path === "/api" ||
    path.startsWith("/api/") ||
    path.endsWith(".json") ||
    path === "/up" ||
    path === "/ready" ||
    isScimPath(path) ||
    !path.startsWith("/")
  );
}

function unexpected(requestId: string): Refusal {
  const message = `Something went wrong on this server. Request ${requestId}.`;
  return { status: 500, message, fields: undefined, retryAfterSeconds: undefined };
}

/** @returns whether the request failed because a stored file is missing or damaged: the log then names the file. */
export function reportStoredFile(error: unknown, { id: requestId }: FastifyRequest, events: Events): boolean {
  const cause = error instanceof AppError ? error.cause : undefined;
  if (!(cause instanceof StoredFileError)) return false;
  events.fileUnreadable(cause.problem, { requestId, pushId: cause.pushId, fileId: cause.fileId });
  return true;
}

function report(error: unknown, refusal: Refusal, request: FastifyRequest, events: Events): void {
  const where = { requestId: request.id, method: request.method, route: request.routeOptions.url ?? "no route" };
  if (refusal.status === 500) events.unexpectedError(where, error);
  else events.refusedUnavailable(where, error);
}
