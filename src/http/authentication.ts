import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Accounts, Session, User } from "../accounts/accounts.ts";
import { AppError } from "../base/errors.ts";
import type { Actor } from "../pushes/pushes.ts";
import { isFromOwnSite } from "./cross-site.ts";
import type { RouteAccess } from "./request.ts";
import type { SessionCookies } from "./session-cookie.ts";

const tokenLengthMax = 512;
const emailLengthMax = 254;
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
  readonly changesState: boolean;
  readonly beforeFactor: boolean;
}

/** @returns the hook that sets `request.actor` or refuses, for a route that declares this. */
export function authenticationHook(declared: Declared, deps: AuthenticationDeps): Hook {
  const { access } = declared;
  if (access === "public") return rememberStranger;
  if (access === "api" || access === "api_token") {
    return tokenHook(access === "api_token" || !deps.allowAnonymous, deps);
  }
  return sessionHook(declared, deps);
}

const rememberStranger: Hook = (request, _reply, done) => {
  request.actor = strangerAt(request);
  done();
};

/** Never reads a cookie: a form body needs no preflight, so a session that counted here could be borrowed by any site. */
function tokenHook(needsToken: boolean, deps: AuthenticationDeps): Hook {
  return (request, _reply, done) => {
    request.actor = strangerAt(request);
    const given = givenCredentials(request.raw.headers);
    if (given === undefined) {
      done(needsToken ? new AppError("not_authenticated", "This needs an API token.") : undefined);
      return;
    }
    findUser(given, deps.accounts).then((user) => {
      if (user === undefined) {
        done(new AppError("not_authenticated", "That API token is not valid."));
      } else if (lacksFactor(user, deps)) {
        done(new AppError("forbidden", `This server asks for a second factor: set one up at ${factorsPath} first.`));
      } else {
        identify(request, user);
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
      if (elsewhere !== undefined) redirectTo(elsewhere, request, reply);
      else if (access === "page_admin" && request.user?.admin !== true) done(new AppError("not_found", "not-found"));
      else done();
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

interface Credentials {
  readonly token: string;
  readonly email: string | undefined;
}

/** The older pair counts only whole, and then before Bearer: clients send both at once. Empty values are not given. */
function givenCredentials(headers: IncomingHttpHeaders): Credentials | undefined {
  const email = headers["x-user-email"];
  const pairToken = headers["x-user-token"];
  if (typeof email === "string" && email !== "" && typeof pairToken === "string" && pairToken !== "") {
    return { token: pairToken, email };
  }
  const bearer = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? "")?.[1];
  return bearer === undefined ? undefined : { token: bearer.trim(), email: undefined };
}

async function findUser(given: Credentials, accounts: AuthenticationDeps["accounts"]): Promise<User | undefined> {
  if (given.token.length > tokenLengthMax) return undefined;
  if (given.email === undefined) return accounts.authenticateToken(given.token);
  if (given.email.length > emailLengthMax) return undefined;
  return accounts.authenticateToken(given.token, given.email);
}
