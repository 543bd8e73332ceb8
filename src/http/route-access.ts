import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import { type AuthenticationDeps, authenticationHook, isApiAccess } from "./authentication.ts";
import type { BodyIntake } from "./body/body-intake.ts";
import { isMultipart, receiveForm } from "./body/receive-body.ts";
import { discardBody } from "./discard-body.ts";
import { answerRefusal, isJsonPath, type Refusal, type RenderError } from "./errors.ts";
import type { Listener, RouteGroup } from "./listener.ts";
import type { NeededScope, RouteAccess } from "./request.ts";

/** One route and the callers that it admits. */
export interface RouteEntry {
  readonly method: string;
  /** With parameters, e.g. `/api/v2/pushes/:url_token`. */
  readonly pattern: string;
  readonly access: RouteAccess;
  readonly group: RouteGroup;
  readonly changesState: boolean;
  /** null: no scope is needed, or it is not an API route. */
  readonly scope: NeededScope;
  readonly retrieval: boolean;
  /** See request.ts. */
  readonly streamsFiles: boolean;
}

interface GuardDeps extends AuthenticationDeps {
  readonly renderError: RenderError;
  readonly bodyIntake: BodyIntake;
}

/**
 * Adds the required hooks to each route that is registered later. A route that does not declare its access, its group and
 * whether it changes state stops the start, and so does an API route without a scope: no route is public by default.
 * @returns the routes; the list grows as routes are registered.
 */
export function guardRoutes(server: FastifyInstance, deps: GuardDeps): readonly RouteEntry[] {
  const inventory: RouteEntry[] = [];
  server.addHook("onRoute", (route) => {
    if (
      route.config?.access === undefined ||
      route.config.group === undefined ||
      route.config.changesState === undefined
    ) {
      throw new Error(`The route ${String(route.method)} ${route.url} does not declare its access and its group.`);
    }
    const { access, group, changesState, scope, retrieval, beforeFactor = false, streamsFiles = false } = route.config;
    const takesTokens = isApiAccess(access);
    if (takesTokens !== (scope !== undefined)) {
      throw new Error(`The route ${String(route.method)} ${route.url} must declare a scope if tokens count there.`);
    }
    const declared = { access, changesState, scope: scope ?? null };
    for (const method of [route.method].flat()) {
      inventory.push({ method, pattern: route.url, group, ...declared, retrieval: retrieval === true, streamsFiles });
    }
    const guards = [
      listenerHook(group),
      ...(access.startsWith("page") ? [rejectJsonPath] : []),
      authenticationHook({ ...declared, beforeFactor }, deps),
      ...(retrieval === true ? [uncountedHook(access, deps.renderError)] : []),
    ];
    route.onRequest = [...guards, ...listed(route.onRequest)];
    if (changesState && access.startsWith("page")) {
      const { takesForm = false } = route.config;
      route.preHandler = [formTokenHook({ streamsFiles, takesForm }, deps.bodyIntake), ...listed(route.preHandler)];
    }
  });
  return inventory;
}

function listed<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  if (hooks === undefined) return [];
  return Array.isArray(hooks) ? hooks : [hooks];
}

/** To a listener that does not serve the group, the route does not exist. */
function listenerHook(group: RouteGroup) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (request.listener.groups.has(group)) done();
    else reply.callNotFound();
  };
}

/** A page's parameter would match a JSON path such as `/p/token.json`: answered as not found, in JSON. */
function rejectJsonPath(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  if (isPageOverJsonPath(request.raw.url ?? "", request.routeOptions.url ?? "")) reply.callNotFound();
  else done();
}

function isPageOverJsonPath(path: string, pattern: string): boolean {
  return /[:*]/.test(pattern) && !isJsonPath(pattern) && isJsonPath(path);
}

/**
 * The hook before a state-changing page's handler: if the request needs a form token, it reads the form and checks the
 * token, so that a handler that reads no form is protected too. `receiveForm` then returns the form that was read.
 * @param handler see request.ts: it reads some forms itself by `receiveBody`, which checks the token before the first file.
 */
function formTokenHook(handler: Readonly<Record<"streamsFiles" | "takesForm", boolean>>, bodyIntake: BodyIntake) {
  return async (request: FastifyRequest): Promise<void> => {
    if (!request.needsFormToken || handler.takesForm || (handler.streamsFiles && isMultipart(request))) return;
    request.formRead = await receiveForm(request, bodyIntake);
  };
}

const prefetchRefusal: Refusal = {
  status: 503,
  message: "A prefetch does not open a push.",
  fields: undefined,
  retryAfterSeconds: 1,
};

const partRefusal: Refusal = {
  status: 403,
  message: "A link opens only as a page of its own.",
  fields: undefined,
  retryAfterSeconds: undefined,
};

/**
 * Keeps prefetches, HEAD requests and what a page loads away from retrievals and from the ends of pushes. A prefetch is refused with
 * Retry-After. HEAD gets 200 for every token without reading the push, so it reveals less than GET.
 */
function uncountedHook(access: RouteAccess, renderError: RenderError) {
  const isPage = access.startsWith("page");
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { headers, method } = request.raw;
    const refusal = isDeclaredPrefetch(headers)
      ? prefetchRefusal
      : isPartOfPage(request, isPage)
        ? partRefusal
        : undefined;
    if (refusal !== undefined) {
      discardBody(request.raw, reply.raw);
      answerRefusal(refusal, request, reply, renderError);
    } else if (method === "HEAD") reply.code(200).send();
    else done();
  };
}

/**
 * Threat: a style sheet or an image address in another page opens links of its choice, whose views their owner sees. Nobody sees what a
 * browser loads in this way: frames are forbidden. Scripts read only the API, as `empty`. A form may be sent by a script, and is no GET.
 */
function isPartOfPage({ raw: { headers, method } }: FastifyRequest, isPage: boolean): boolean {
  const destination = headers["sec-fetch-dest"];
  if (method !== "GET" || destination === undefined || destination === "document") return false;
  return isPage || destination !== "empty";
}

/** Headers with which a browser declares that it fetches a page before the person requests it. */
const prefetchHeaders = ["sec-purpose", "purpose", "x-moz", "x-purpose"] as const;

function isDeclaredPrefetch(headers: IncomingHttpHeaders): boolean {
  return prefetchHeaders.some((name) => {
    const value = headers[name];
    return value !== undefined && /prefetch|prerender|preview/i.test(String(value));
  });
}

/**
 * The methods of the routes at this path that the listener serves, for `Allow`; empty when there is none. A route without parameters hides those
 * with parameters that match as well: `/p/active.json` is not a push of `/p/:url_token.json`.
 */
export function allowedMethods(
  path: string,
  routes: readonly RouteEntry[],
  { groups }: Pick<Listener, "groups">,
): readonly string[] {
  const segments = path.split("/");
  const matching = routes.filter(
    ({ pattern }) => matches(segments, pattern.split("/")) && !isPageOverJsonPath(path, pattern),
  );
  const exact = matching.filter(({ pattern }) => pattern === path);
  const served = (exact.length > 0 ? exact : matching).filter(({ group }) => groups.has(group));
  const methods = served.map(({ method }) => method);
  return [...new Set(methods)].sort();
}

function matches(segments: readonly string[], pattern: readonly string[]): boolean {
  if (pattern.at(-1) === "*") {
    return segments.length >= pattern.length && matchesPrefix(segments, pattern.slice(0, -1));
  }
  return segments.length === pattern.length && matchesPrefix(segments, pattern);
}

function matchesPrefix(segments: readonly string[], pattern: readonly string[]): boolean {
  return pattern.every((part, index) => {
    const segment = segments[index] ?? "";
    if (!part.startsWith(":")) return part === segment;
    const dot = part.indexOf(".");
    const ending = dot === -1 ? "" : part.slice(dot);
    return segment.length > ending.length && segment.endsWith(ending);
  });
}
