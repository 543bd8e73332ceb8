import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { allowedMethods } from "./allowed-methods.ts";
import { discardRest } from "./discard-rest.ts";
import { answerRefusal, isProgramAddress, type RenderError, refusalOf } from "./errors.ts";
import type { RouteEntry } from "./route-access.ts";

/** For what no route takes: another method of a path that stands, a page's address with a slash too many, the unknown. */
export function answerUnrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: readonly RouteEntry[],
  renderError: RenderError,
): FastifyReply {
  discardRest(request.raw, reply.raw);
  const url = request.raw.url ?? "";
  const queryStart = url.indexOf("?");
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  const query = url.slice(path.length);
  const page = pageWithoutSlash(path, routes);
  if (page !== undefined && isRead(request.method)) return reply.redirect(`${page}${query}`, 301);
  const standing = allowedMethods(path, routes);
  // A route that stands for this method and still ended here has not found its file.
  const methods = standing.includes(request.method) ? [] : standing;
  if (methods.length > 0) reply.header("allow", methods.join(", "));
  if (methods.length > 0 && request.method === "OPTIONS") return reply.code(204).send();
  const error =
    methods.length > 0
      ? new AppError("method_not_allowed", "That method is not allowed here.")
      : new AppError("not_found", "not-found");
  const refusal = refusalOf(error);
  if (refusal === undefined) throw error;
  return answerRefusal(refusal, request, reply, renderError);
}

/** Nothing in it that a browser would read otherwise: no empty segment, no backslash, nothing encoded, so no other host. */
const plainPathWithSlash = /^(?:\/[\w.~-]+)+\/$/;

/** The address of the page that stands there without the slash at the end; programs are never led elsewhere. */
function pageWithoutSlash(path: string, routes: readonly RouteEntry[]): string | undefined {
  if (!plainPathWithSlash.test(path)) return undefined;
  const page = path.slice(0, -1);
  if (isProgramAddress(path) || isProgramAddress(page)) return undefined;
  return allowedMethods(page, routes).includes("GET") ? page : undefined;
}

export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
