import type { FastifyRequest } from "fastify";
import type { Administrator } from "../../accounts/accounts.ts";
import { userOf } from "../page-scope.ts";

/** Who acts, for the administrators' trail. */
export function administratorOf(request: FastifyRequest): Administrator {
  const { id, email } = userOf(request);
  return { userId: id, email, address: request.actor.address };
}

/** A number in the path; undefined when it is none. */
export function idOf(request: FastifyRequest): number | undefined {
  const { params } = request;
  const text: unknown = typeof params === "object" && params !== null ? Reflect.get(params, "id") : undefined;
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

export const reading = { access: "page_admin", changesState: false } as const;
export const changing = { access: "page_admin", changesState: true } as const;
