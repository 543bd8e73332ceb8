import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../base/errors.ts";
import { pageHref } from "./page.ts";
import { type FrameDeps, pageContext } from "./page-scope.ts";

/** After a form: the browser asks for the page by GET. @param path one of ours. */
export function goTo(path: string, request: FastifyRequest, reply: FastifyReply, deps: FrameDeps): FastifyReply {
  return reply.redirect(pageHref(pageContext(request, deps, null), path), 303);
}

/** For a form that is sent back because of too many attempts. @returns seconds. @throws every other error. */
export function waitAfter(error: unknown, reply: FastifyReply): number {
  if (!(error instanceof AppError) || error.code !== "too_many_requests") throw error;
  const seconds = error.retryAfterSeconds ?? 60;
  reply.header("retry-after", String(seconds));
  return seconds;
}
