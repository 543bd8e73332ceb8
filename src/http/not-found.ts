import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { discardBody } from "./discard-body.ts";
import { answerRefusal, isJsonPath, type RenderError, refusalOf } from "./errors.ts";
import { allowedMethods, type RouteEntry } from "./route-access.ts";

/**
 * @param query with its question mark; "": none.
 * @param methodsOf the methods of the routes that match a path.
 * @returns the page of today for an address that pages had once, or that only a form is sent to; undefined: none.
 */
export type FindOldAddress = (
  path: string,
  query: string,
  methodsOf: (path: string) => readonly string[],
) => string | undefined;

/**
 * Answers a request that matches no route: a redirect for an old address, 405 on a known path, else 404.
 */
export function answerNotFound(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: {
    readonly routes: readonly RouteEntry[];
    readonly renderError: RenderError;
    readonly findOldAddress: FindOldAddress;
  },
): FastifyReply {
  const { routes, renderError, findOldAddress } = deps;
  discardBody(request.raw, reply.raw);
  const url = request.raw.url ?? "";
  const queryStart = url.indexOf("?");
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  const query = url.slice(path.length);
  const methodsOf = (candidate: string) => allowedMethods(candidate, routes, request.listener);
  if (isRead(request.method) && !isJsonPath(path)) {
    const address = findOldAddress(path, query, methodsOf);
    // The page may be one that this listener does not serve.
    if (address !== undefined && methodsOf(address.split(/[?#]/)[0] ?? "").includes("GET"))
      return reply.redirect(address, 301);
  }
  const allowed = methodsOf(path);
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
