import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Accounts, Scope, Session, User } from "../accounts/accounts.ts";
import { AppError } from "../base/errors.ts";
import type { Actor } from "../pushes/pushes.ts";
import { findHolder, givenCredentials } from "./api-credentials.ts";
import { isFromOwnSite } from "./cross-site.ts";
import type { RouteAccess } from "./request.ts";
import type { SessionCookies } from "./session-cookie.ts";

export const signInPath = "/users/sign_in";
/** Where a sign-in gives its second factor. */
export const secondFactorPath = "/users/second_factor";
/** Where people set their second factors up. */
export const factorsPath = "/users/factors";

export interface AuthenticationDeps {
  readonly accounts: Pick<Accounts, "authenticateToken" | "authenticateSession">;
  readonly allowAnonymous: boolean;
  readonly requireSecondFactor: boolean;
  readonly sessionCookies: SessionCookies;
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

export function strangerAt(request: FastifyRequest): Actor {
  const { headers } = request.raw;
  return {
    user: null,
    client: request.client.key,
    address: request.client.address,
    userAgent: headers["user-agent"] ?? "",
    referrer: headers.referer ?? "",
    ownOrigin: request.baseUrl,
  };
}

export interface Declared {
  readonly access: RouteAccess;
  /** null: a token needs none here. */
  readonly scope: Scope | null;
  readonly changesState: boolean;
  readonly beforeFactor: boolean;
}

/** @returns the hook that sets `request.actor` or refuses, for a route that declares this. */
export function authenticationHook(declared: Declared, deps: AuthenticationDeps): Hook {
  const { access } = declared;
  if (access === "public") return rememberStranger;
  if (access === "api" || access === "api_token") {
    return tokenHook(declared.scope, access === "api_token" || !deps.allowAnonymous, deps);
  }
  return sessionHook(declared, deps);
}

const rememberStranger: Hook = (request, _reply, done) => {
  request.actor = strangerAt(request);
  done();
};

/**
 * Never reads a cookie: a form body needs no preflight, so a session that counted here could be borrowed by any site.
 * Where no scope is asked for, a token that may not read acts for nobody: its owner's own eyes are no concern of it.
 */
function tokenHook(scope: Scope | null, needsToken: boolean, deps: AuthenticationDeps): Hook {
  return (request, _reply, done) => {
    request.actor = strangerAt(request);
    const given = givenCredentials(request.raw.headers);
    if (given === undefined) {
      done(needsToken ? new AppError("not_authenticated", "This needs an API token.") : undefined);
      return;
    }
    findHolder(given, request.client.address, deps.accounts).then((holder) => {
      if (holder === undefined) {
        done(new AppError("not_authenticated", "That API token is not valid."));
      } else if (lacksFactor(holder.user, deps)) {
        done(new AppError("forbidden", `This server asks for a second factor: set one up at ${factorsPath} first.`));
      } else if (scope !== null && !holder.scopes.includes(scope)) {
        done(new AppError("forbidden", `This API token lacks the scope "${scope}".`));
      } else {
        if (holder.scopes.includes(scope ?? "read")) identify(request, holder.user);
        done();
      }
    }, done);
  };
}

type Standing =
  | { readonly is: "stranger" }
  | { readonly is: "waiting" | "lacking_factor" | "signed_in"; readonly session: Session };

function sessionHook(declared: Declared, deps: AuthenticationDeps): Hook {
  const { access, changesState } = declared;
  return (request, reply, done) => {
    request.actor = strangerAt(request);
    const sessionToken = deps.sessionCookies.find(request.raw, request.client);
    const isProven = !changesState || isFromOwnSite(request);
    standingOf(sessionToken, declared, deps).then((standing) => {
      if (access === "page_admin" && isNoAdministrator(standing)) {
        // Before the request knows who asks: the answer is that of an address at which there is nothing.
        done(new AppError("not_found", "not-found"));
        return;
      }
      if (standing.is !== "stranger") {
        request.formToken = standing.session.formToken;
        request.owesFormToken = !isProven;
      }
      if (standing.is === "signed_in") {
        request.session = standing.session;
        identify(request, standing.session.user);
      }
      if (access === "page_waiting" && standing.is === "waiting") request.session = standing.session;
      const elsewhere = needsMore(access, standing, deps);
      if (elsewhere === undefined) done();
      else redirectTo(elsewhere, request, reply);
    }, done);
  };
}

async function standingOf(
  sessionToken: string | undefined,
  { beforeFactor }: Declared,
  deps: AuthenticationDeps,
): Promise<Standing> {
  const session = sessionToken === undefined ? undefined : await deps.accounts.authenticateSession(sessionToken);
  if (session === undefined) return { is: "stranger" };
  if (session.waitsForFactor) return { is: "waiting", session };
  return { is: lacksFactor(session.user, deps) && !beforeFactor ? "lacking_factor" : "signed_in", session };
}

/** Of a half signed in it is not told: the password alone must not tell who administers. */
function isNoAdministrator(standing: Standing): boolean {
  return standing.is !== "stranger" && standing.is !== "waiting" && !standing.session.user.admin;
}

/** Where somebody has to go before this page; undefined: nowhere. On open pages the half signed in are strangers. */
function needsMore(access: RouteAccess, standing: Standing, deps: AuthenticationDeps): string | undefined {
  if (access === "page") return undefined;
  if (access === "page_waiting") return standing.is === "waiting" ? undefined : signInPath;
  switch (standing.is) {
    case "signed_in":
      return undefined;
    case "waiting":
      return secondFactorPath;
    case "lacking_factor":
      return factorsPath;
    case "stranger":
      return access === "page_creator" && deps.allowAnonymous ? undefined : signInPath;
  }
}

function lacksFactor(user: User, deps: AuthenticationDeps): boolean {
  return deps.requireSecondFactor && !user.hasSecondFactor;
}

function identify(request: FastifyRequest, user: User): void {
  request.user = user;
  request.actor = { ...request.actor, user: { id: user.id, admin: user.admin } };
}

function redirectTo(path: string, request: FastifyRequest, reply: FastifyReply): void {
  const returns = request.method === "GET" && path !== factorsPath;
  const back = returns ? `?next=${encodeURIComponent(request.raw.url ?? "/")}` : "";
  reply.redirect(`${path}${back}`, 303);
}
