import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { secondFactorPath, signInPath } from "../../http/authentication.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { pageHref } from "../page-context.ts";
import { type PageDeps, pageContext, placeOf, queryOf } from "../page-scope.ts";
import { renderPage } from "../render.ts";
import { providerNameOf } from "../single-sign-on/button.tsx";
import { type SignInModel, signInView } from "./view.tsx";

export function registerSignInPages(server: FastifyInstance, deps: PageDeps): void {
  server.get(signInPath, { config: { access: "page", changesState: false } }, (request, reply) => {
    const next = ownPath(queryOf(request, "next"));
    return sendSignIn(request, reply, deps, 200, { email: "", next, refusal: null });
  });
  server.post(signInPath, { config: { access: "page", changesState: true } }, (request, reply) =>
    signIn(request, reply, deps),
  );
  server.post("/users/sign_out", { config: { access: "page", changesState: true } }, async (request, reply) => {
    const sessionToken = deps.sessionCookies.find(request.raw, request.client);
    if (sessionToken !== undefined) await deps.accounts.signOut(sessionToken);
    reply.header("set-cookie", deps.sessionCookies.ended(request.client));
    return reply.redirect(pageHref(pageContext(request, deps, null), "/"), 303);
  });
}

async function signIn(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const form = await receiveForm(request, deps.bodyBudget);
  const email = textOf(form.email);
  const next = ownPath(textOf(form.next));
  try {
    const signedIn = await deps.accounts.signIn({ email, password: textOf(form.password), place: placeOf(request) });
    if (signedIn === undefined) {
      return sendSignIn(request, reply, deps, 401, { email, next, refusal: { reason: "wrong" } });
    }
    const before = deps.sessionCookies.find(request.raw, request.client);
    if (before !== undefined) await deps.accounts.signOut(before);
    reply.header("set-cookie", deps.sessionCookies.made(signedIn.sessionToken, request.client));
    const after = signedIn.waitsForFactor ? withNext(secondFactorPath, next) : (next ?? "/");
    return reply.redirect(pageHref(pageContext(request, deps, null), after), 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "too_many_requests") throw error;
    const retryAfterSeconds = error.retryAfterSeconds ?? 60;
    reply.header("retry-after", String(retryAfterSeconds));
    return sendSignIn(request, reply, deps, 429, { email, next, refusal: { reason: "too_many", retryAfterSeconds } });
  }
}

function sendSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  status: number,
  shown: Omit<SignInModel, "provider">,
): FastifyReply {
  const model = { ...shown, provider: providerNameOf(deps.config) };
  const selfPath = model.next === null ? signInPath : `${signInPath}?next=${encodeURIComponent(model.next)}`;
  return sendPage(reply, status, renderPage(signInView(model, pageContext(request, deps, selfPath))));
}

/** @param next as `ownPath` has checked it. */
export function withNext(path: string, next: string | null): string {
  return next === null ? path : `${path}?next=${encodeURIComponent(next)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * A return path leads to a page of this server and nowhere else: `//evil`, `/\evil` and absolute addresses do not, nor
 * does what becomes one of them when its dots are resolved (`/..//evil`).
 */
export function ownPath(next: string | undefined): string | null {
  if (next === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next)) return null;
  const base = "http://own.invalid";
  const parsed = URL.parse(next, base);
  return parsed?.origin === base && !parsed.pathname.startsWith("//") ? `${parsed.pathname}${parsed.search}` : null;
}
