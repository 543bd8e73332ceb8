import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Accounts, Session, TokenHolder, User } from "../accounts/accounts.ts";
import { AppError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { digest, equalDigests } from "../crypto/digests.ts";
import { makeOpaqueToken } from "../crypto/tokens.ts";
import type { Actor } from "../pushes/pushes.ts";
import { isReadable } from "./body/receive-body.ts";
import { isFromOwnSite } from "./cross-site.ts";
import type { NeededScope, RouteAccess } from "./request.ts";
import type { SessionCookies, TokenCookies } from "./session-cookie.ts";

export const signInPath = "/users/sign_in";
/** The second step of a sign-in. */
export const secondFactorPath = "/users/second_factor";
/** The page to set up second factors. */
export const factorsPath = "/users/factors";

export interface AuthenticationDeps {
  readonly accounts: Pick<Accounts, "authenticateToken" | "authenticateSession" | "entryFormToken">;
  readonly random: Random;
  readonly allowAnonymous: boolean;
  readonly allowAnonymousRequests: boolean;
  readonly requireSecondFactor: boolean;
  /** The tokens that the identity provider may send; empty: none is valid. */
  readonly scimTokens: readonly string[];
  readonly sessionCookies: SessionCookies;
  readonly entryCookies: TokenCookies;
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

export function anonymousActor(request: FastifyRequest): Actor {
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

interface DeclaredAccess {
  readonly access: RouteAccess;
  readonly scope: NeededScope;
  readonly changesState: boolean;
  readonly beforeFactor: boolean;
}

/** @returns the hook that sets `request.actor` or refuses the request, for a route with this declaration. */
export function authenticationHook(declared: DeclaredAccess, deps: AuthenticationDeps): Hook {
  const { access } = declared;
  if (access === "public") return setAnonymousActor;
  if (access === "scim") return scimHook(deps);
  if (isApiAccess(access)) return tokenHook(declared.scope, !admitsAnonymous(access, deps), deps);
  return sessionHook(declared, deps);
}

/** Tokens count there. */
export function isApiAccess(access: RouteAccess): boolean {
  return access.startsWith("api");
}

/** For routes that people without an account may use where the operator allows it. */
function admitsAnonymous(access: RouteAccess, deps: AuthenticationDeps): boolean {
  if (access === "api_requester" || access === "page_requester") return deps.allowAnonymousRequests;
  return (access === "api" || access === "page_creator") && deps.allowAnonymous;
}

const setAnonymousActor: Hook = (request, _reply, done) => {
  request.actor = anonymousActor(request);
  done();
};

/**
 * Never reads a cookie: a form body needs no preflight, so any site could use a session that was accepted here.
 * Where no scope is required, a token without the scope `read` does not identify its user: it must not see what only the
 * owner may see.
 */
function tokenHook(scope: NeededScope, needsToken: boolean, deps: AuthenticationDeps): Hook {
  return (request, _reply, done) => {
    request.actor = anonymousActor(request);
    const token = readToken(request.raw);
    if (token === undefined) {
      done(needsToken ? new AppError("not_authenticated", "This needs an API token.") : undefined);
      return;
    }
    const admitHolder = async (): Promise<TokenHolder> => {
      const holder = await findHolder(token, request.client.address, deps.accounts);
      if (holder === undefined) throw new AppError("not_authenticated", "That API token is not valid.");
      if (lacksFactor(holder.user, deps)) throw factorRequired();
      if (scope !== null && scope !== "any" && !holder.scopes.includes(scope)) {
        throw new AppError("forbidden", `This API token lacks the scope "${scope}".`);
      }
      return holder;
    };
    request.confirmAccess = admitHolder;
    admitHolder().then((holder) => {
      if (scope === "any" || holder.scopes.includes(scope ?? "read")) identify(request, holder.user);
      done();
    }, done);
  };
}

/** Tokens are compared in constant time. */
function scimHook({ scimTokens }: AuthenticationDeps): Hook {
  const expected = scimTokens.map((token) => digest(token));
  return (request, _reply, done) => {
    request.actor = anonymousActor(request);
    const given = /^bearer +(\S+) *$/i.exec(authorizationOf(request.raw) ?? "")?.[1];
    const isValid = given !== undefined && expected.filter((each) => equalDigests(digest(given), each)).length > 0;
    done(isValid ? undefined : new AppError("not_authenticated", "This needs the SCIM token."));
  };
}

const tokenLengthMax = 512;

/**
 * The token of the request, in any form that clients use: `Authorization: Bearer <token>`, `Token <token>` or the token alone,
 * and the older X-User-Token. X-User-Token wins over Authorization only beside X-User-Email, whose value does not matter:
 * people change their address, and some clients send the recipient's.
 * @returns "" for a blank header, which is never valid; undefined: no credential was sent.
 */
function readToken(request: IncomingMessage): string | undefined {
  const { "x-user-email": email, "x-user-token": older } = request.headers;
  const authorization = authorizationOf(request);
  const olderToken = older === undefined ? undefined : String(older).trim();
  if (olderToken && (email !== undefined || !authorization?.trim())) return olderToken;
  return authorization === undefined ? olderToken : authorization.trim().split(/\s+/).at(-1);
}

/** No token, and not blank. */
const severalTokens = ",";

/**
 * The header Authorization; `severalTokens` if there are several different ones. Node would read the first of them, and a
 * proxy that checks tokens may read another one.
 */
function authorizationOf({ headers: { authorization }, rawHeaders }: IncomingMessage): string | undefined {
  if (authorization === undefined) return undefined;
  const isOther = (name: string, at: number) =>
    at % 2 === 0 && name.toLowerCase() === "authorization" && rawHeaders[at + 1] !== authorization;
  return rawHeaders.some(isOther) ? severalTokens : authorization;
}

/** @param address the client's address as reported by trusted proxies; tokens can be limited to networks. */
async function findHolder(
  token: string,
  address: string,
  accounts: Pick<Accounts, "authenticateToken">,
): Promise<TokenHolder | undefined> {
  return token.length > tokenLengthMax ? undefined : accounts.authenticateToken({ token, address });
}

type SignInState =
  | { readonly state: "anonymous" }
  /** `waiting`: for the second factor. `lacking_factor`: the server requires one and the user has none. */
  | { readonly state: "waiting" | "lacking_factor" | "signed_in"; readonly session: Session };

function sessionHook(declared: DeclaredAccess, deps: AuthenticationDeps): Hook {
  const { access, changesState } = declared;
  return (request, reply, done) => {
    const { keepsTyped, takesForm, sendsBackSignedOut } = request.routeOptions.config;
    // Where a sign-in waits for its second factor, nothing is typed that outlives it.
    const isTyped = keepsTyped === true || (takesForm === true && access !== "page_waiting" && isReadable(request));
    request.actor = anonymousActor(request);
    // A gateway may share its host name with the complete server, and with it the cookie. It has no page of a session.
    const sessionToken = request.listener.groups.has("internal")
      ? deps.sessionCookies.find(request.raw, request.client)
      : undefined;
    const isProven = !changesState || isFromOwnSite(request);
    if (access === "page_entry") {
      setEntryFormToken(request, reply, deps);
      request.needsFormToken = !isProven;
    }
    const readSignIn = () => findSignInState(sessionToken, declared, deps);
    readSignIn().then((signIn) => {
      if (access === "page_admin" && isNoAdministrator(signIn)) {
        // Refuse before the request is identified, so that the answer equals that for an unknown path.
        done(new AppError("not_found", "not-found"));
        return;
      }
      admit(request, signIn, access, isProven);
      if (signIn.state !== "anonymous") {
        request.confirmAccess = async () => {
          const current = await readSignIn();
          if (access === "page_admin" && isNoAdministrator(current)) throw new AppError("not_found", "not-found");
          if (current.state !== signIn.state) throw sessionEnded();
        };
      }
      const path = requiredStep(access, signIn, deps);
      if (path === undefined) done();
      // A redirect would lose what was typed. The handler sends the form back; after an error, the browser has it still (see failure.tsx).
      else if (!isTyped) redirectTo(path, request, reply);
      else if (signIn.state === "lacking_factor") done(factorRequired());
      else done(sendsBackSignedOut === true ? undefined : sessionEnded());
    }, done);
  };
}

/** Gives the request its session. @param isProven the request comes from this site's own pages. */
function admit(request: FastifyRequest, signIn: SignInState, access: RouteAccess, isProven: boolean): void {
  if (signIn.state === "anonymous") return;
  const { session } = signIn;
  request.formToken = session.formToken;
  request.needsFormToken = !isProven;
  if (signIn.state === "signed_in") identify(request, session.user);
  if (signIn.state === "signed_in" || (access === "page_waiting" && signIn.state === "waiting")) {
    request.session = session;
  }
}

/** A page of a browser that does not say where its requests come from gets the cookie with its first form. */
function setEntryFormToken(
  request: FastifyRequest,
  reply: FastifyReply,
  { accounts, entryCookies, random }: AuthenticationDeps,
): void {
  const { method, headers } = request.raw;
  let token = entryCookies.find(request.raw, request.client);
  if (token === undefined && method === "GET" && headers["sec-fetch-site"] === undefined) {
    token = makeOpaqueToken(random);
    reply.header("set-cookie", entryCookies.made(token, request.client));
  }
  if (token === undefined) return;
  request.entryFormToken = accounts.entryFormToken(token);
  request.formToken = request.entryFormToken;
}

async function findSignInState(
  sessionToken: string | undefined,
  { beforeFactor }: DeclaredAccess,
  deps: AuthenticationDeps,
): Promise<SignInState> {
  const session = sessionToken === undefined ? undefined : await deps.accounts.authenticateSession(sessionToken);
  if (session === undefined) return { state: "anonymous" };
  if (session.waitsForFactor) return { state: "waiting", session };
  return { state: lacksFactor(session.user, deps) && !beforeFactor ? "lacking_factor" : "signed_in", session };
}

/** False before the second factor: the password alone must not reveal who is an administrator. */
function isNoAdministrator(signIn: SignInState): boolean {
  return signIn.state !== "anonymous" && signIn.state !== "waiting" && !signIn.session.user.admin;
}

/**
 * The page that the visitor must complete first; undefined: none. Open pages treat a sign-in without its second factor as
 * anonymous.
 */
function requiredStep(access: RouteAccess, signIn: SignInState, deps: AuthenticationDeps): string | undefined {
  if (access === "page" || access === "page_entry") return undefined;
  if (access === "page_waiting") return signIn.state === "waiting" ? undefined : signInPath;
  switch (signIn.state) {
    case "signed_in":
      return undefined;
    case "waiting":
      return secondFactorPath;
    case "lacking_factor":
      return factorsPath;
    case "anonymous":
      return admitsAnonymous(access, deps) ? undefined : signInPath;
  }
}

/** A service account has no person who could have one. */
function lacksFactor({ hasSecondFactor, serviceGroupId }: User, deps: AuthenticationDeps): boolean {
  return deps.requireSecondFactor && !hasSecondFactor && serviceGroupId === undefined;
}

function sessionEnded(): AppError {
  return new AppError("not_authenticated", "This session has ended.");
}

function factorRequired(): AppError {
  return new AppError("factor_required", `This server asks for two-step sign-in: set it up at ${factorsPath} first.`);
}

function identify(request: FastifyRequest, user: User): void {
  request.user = user;
  const { id, admin, serviceGroupId } = user;
  request.actor = { ...request.actor, user: { id, admin, ...(serviceGroupId !== undefined && { isService: true }) } };
}

function redirectTo(path: string, request: FastifyRequest, reply: FastifyReply): void {
  const returns = request.method === "GET" && path !== factorsPath;
  const locale: unknown = Reflect.get(Object(request.query), "locale");
  const parameters = new URLSearchParams({
    ...(returns && { next: request.raw.url ?? "/" }),
    ...(typeof locale === "string" && { locale }),
  });
  reply.redirect(parameters.size === 0 ? path : `${path}?${parameters}`, 303);
}
