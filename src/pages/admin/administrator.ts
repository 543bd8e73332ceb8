import type { FastifyRequest } from "fastify";
import type { Administrator } from "../../accounts/accounts.ts";
import { userOf } from "../page-scope.ts";

/** Who acts, for the administrators' trail. */
export function administratorOf(request: FastifyRequest): Administrator {
  const { id, email } = userOf(request);
  return { userId: id, email, address: request.actor.address };
}

export const reading = { access: "page_admin", changesState: false } as const;
export const changing = { access: "page_admin", changesState: true } as const;
