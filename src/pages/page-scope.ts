import type { FastifyRequest } from "fastify";
import type { ClientContext, Session, User } from "../accounts/accounts.ts";

export { type LayoutServices as FrameDeps, type PageServices as PageDeps, pageContext, queryOf } from "./request.ts";

/** Who is signed in on a page whose access guarantees that somebody is. */
export function userOf(request: FastifyRequest): User {
  if (request.user === null) throw new Error("A page for signed-in people was reached by nobody.");
  return request.user;
}

/** Their session, on such a page. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === null) throw new Error("A page for people with a session was reached by nobody.");
  return request.session;
}

/** Where the person asks from, for sign-ins and what accounts remember. */
export function clientContextOf(request: FastifyRequest): ClientContext {
  const { client, address, userAgent } = request.actor;
  return { throttleKey: client, address, userAgent };
}

/** The number in the path, `:id`; undefined when it is none. */
export function idOf({ params }: FastifyRequest): number | undefined {
  const id: unknown = Reflect.get(Object(params), "id");
  return typeof id === "string" && /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}
