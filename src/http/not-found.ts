import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { discardBody } from "./discard-body.ts";
import { answerRefusal, isJsonPath, type RenderError, refusalOf } from "./errors.ts";
import { allowedMethods, type RouteEntry } from "./route-access.ts";

/** @returns the page of today for an address that pages had once. `query` has its question mark. */
export type FindOldAddress = (path: string, query: string, isPage: (path: string) => boolean) => string | undefined;

/**
 * Answers a request that matches no route: 405 on a known path, a redirect for an old address, else 404.
 */
export function answerNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: readonly RouteEntry[],
  renderError: RenderError,
  findOldAddress: FindOldAddress,
): FastifyReply {
  discardBody(request.raw, reply.raw);
  const url = request.raw.url ?? "";
  const queryStart = url.indexOf("?");
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  const query = url.slice(path.length);
  if (isRead(request.method) && !isJsonPath(path)) {
    const isPage = (candidate: string) => allowedMethods(candidate, routes, request.listener).includes("GET");
    const address = findOldAddress(path, query, isPage);
    // The page may be one that this listener does not serve.
    if (address !== undefined && isPage(address.split("?")[0] ?? "")) return reply.redirect(address, 301);
  }
  const allowed = allowedMethods(path, routes, request.listener);
  // A route with this method exists, but its file was not found.
  const methods = allowed.includes(request.method) ? [] : allowed;
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

export function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
