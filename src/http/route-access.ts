import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Scope } from "../accounts/accounts.ts";
import { isPageOver } from "./allowed-methods.ts";
import { type AuthenticationDeps, authenticationHook } from "./authentication.ts";
import type { BodyBudget } from "./body/body-budget.ts";
import { answerRefusal, type Refusal, type RenderError } from "./errors.ts";
import { formTokenHook } from "./form-token.ts";
import { isDeclaredPrefetch } from "./prefetch.ts";
import type { RouteAccess } from "./request.ts";

/** One line of the inventory: what stands at an address and who may call it. */
export interface RouteEntry {
  readonly method: string;
  /** With parameters, e.g. `/api/v2/pushes/:url_token`. */
  readonly pattern: string;
  readonly access: RouteAccess;
  readonly changesState: boolean;
  /** null: none, or no route of the API. */
  readonly scope: Scope | null;
  readonly retrieval: boolean;
}

export interface GuardDeps extends AuthenticationDeps {
  readonly renderError: RenderError;
  readonly bodyBudget: BodyBudget;
}

/**
 * Gives each route registered later the hooks its declaration asks for. A route that does not say who may call it and
 * whether it changes state stops the start, and so does one of the API that does not say which scope a token needs: the
 * default is not "everybody".
 * @returns the inventory, which grows as routes are registered.
 */
export function guardRoutes(server: FastifyInstance, deps: GuardDeps): readonly RouteEntry[] {
  const refuseUnseen = unseenHook(deps.renderError);
  const inventory: RouteEntry[] = [];
  server.addHook("onRoute", (route) => {
    const { access, changesState, scope, retrieval, beforeFactor = false, formInParts = false } = route.config ?? {};
    if (access === undefined || changesState === undefined) {
      throw new Error(`The route ${String(route.method)} ${route.url} does not declare its access.`);
    }
    const takesTokens = access === "api" || access === "api_token";
    if (takesTokens !== (scope !== undefined)) {
      throw new Error(`The route ${String(route.method)} ${route.url} must declare a scope if tokens count there.`);
    }
    const declared = { access, changesState, scope: scope ?? null };
    for (const method of [route.method].flat()) {
      inventory.push({ method, pattern: route.url, ...declared, retrieval: retrieval === true });
    }
    const guards = [
      ...(access.startsWith("page") ? [passProgramsBy] : []),
      authenticationHook({ ...declared, beforeFactor }, deps),
      ...(retrieval === true ? [refuseUnseen] : []),
    ];
    route.onRequest = [...guards, ...listed(route.onRequest)];
    if (changesState && access.startsWith("page")) {
      route.preHandler = [formTokenHook(formInParts, deps.bodyBudget), ...listed(route.preHandler)];
    }
  });
  return inventory;
}

function listed<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  if (hooks === undefined) return [];
  return Array.isArray(hooks) ? hooks : [hooks];
}

/** Where a page's parameter would take what ends like an address of the API: to those who answer programs. */
function passProgramsBy(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  if (isPageOver(request.raw.url ?? "", request.routeOptions.url ?? "")) reply.callNotFound();
  else done();
}

const notYet: Refusal = {
  status: 503,
  message: "A push is not opened ahead of its reader.",
  fields: undefined,
  retryAfterSeconds: 1,
};

/**
 * For requests that no person reads the answer of. A prefetch is told to come back. HEAD is answered without looking
 * at the push, with the same 200 for every token: it tells less than GET would.
 */
function unseenHook(renderError: RenderError) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (isDeclaredPrefetch(request.raw.headers)) answerRefusal(notYet, request, reply, renderError);
    else if (request.raw.method === "HEAD") reply.code(200).send();
    else done();
  };
}
