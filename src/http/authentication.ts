import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Accounts, User } from "../accounts/accounts.ts";
import { AppError } from "../base/errors.ts";
import type { Actor } from "../pushes/pushes.ts";
import { refuseCrossSite } from "./cross-site.ts";
import type { RouteAccess } from "./request.ts";
import type { SessionCookies } from "./session-cookie.ts";

const tokenLengthMax = 512;
const emailLengthMax = 254;
export const signInPath = "/users/sign_in";

export interface AuthenticationDeps {
  readonly accounts: Pick<Accounts, "authenticateToken" | "authenticateSession">;
  readonly allowAnonymous: boolean;
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

/** @returns the hook that sets `request.actor` or refuses, for a route of this access. */
export function authenticationHook(access: RouteAccess, changesState: boolean, deps: AuthenticationDeps): Hook {
  if (access === "public") return rememberStranger;
  if (access === "api" || access === "api_token") {
    return tokenHook(access === "api_token" || !deps.allowAnonymous, deps.accounts);
  }
  const needsSession = access === "page_session" || (access === "page_creator" && !deps.allowAnonymous);
  return sessionHook(needsSession, changesState, deps);
}

const rememberStranger: Hook = (request, _reply, done) => {
  request.actor = strangerAt(request);
  done();
};

/** Never reads a cookie: a form body needs no preflight, so a session that counted here could be borrowed by any site. */
function tokenHook(needsToken: boolean, accounts: AuthenticationDeps["accounts"]): Hook {
  return (request, _reply, done) => {
    request.actor = strangerAt(request);
    const given = givenCredentials(request.raw.headers);
    if (given === undefined) {
      done(needsToken ? new AppError("not_authenticated", "This needs an API token.") : undefined);
      return;
    }
    findUser(given, accounts).then((user) => {
      if (user !== undefined) identify(request, user);
      done(user === undefined ? new AppError("not_authenticated", "That API token is not valid.") : undefined);
    }, done);
  };
}

function sessionHook(needsSession: boolean, changesState: boolean, deps: AuthenticationDeps): Hook {
  return (request, reply, done) => {
    request.actor = strangerAt(request);
    const sessionToken = deps.sessionCookies.find(request.raw, request.client);
    if (changesState) refuseCrossSite(request, sessionToken !== undefined);
    if (sessionToken === undefined) {
      if (needsSession) redirectToSignIn(request, reply);
      else done();
      return;
    }
    deps.accounts.authenticateSession(sessionToken).then((user) => {
      if (user !== undefined) identify(request, user);
      if (user === undefined && needsSession) redirectToSignIn(request, reply);
      else done();
    }, done);
  };
}

function identify(request: FastifyRequest, user: User): void {
  request.user = user;
  request.actor = { ...request.actor, user: { id: user.id, admin: user.admin } };
}

function redirectToSignIn(request: FastifyRequest, reply: FastifyReply): void {
  const back = request.method === "GET" ? `?next=${encodeURIComponent(request.raw.url ?? "/")}` : "";
  reply.redirect(`${signInPath}${back}`, 303);
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
