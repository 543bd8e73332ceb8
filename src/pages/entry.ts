import type { FastifyReply, FastifyRequest } from "fastify";
import type { PasswordProblem } from "../accounts/accounts.ts";
import { passwordLimits } from "../accounts/accounts.ts";
import { AppError } from "../base/errors.ts";
import type { FormFields } from "../http/body/form-fields.ts";
import { sendPage } from "../http/headers.ts";
import type { Words } from "../words/words.ts";
import { pageHref } from "./page-context.ts";
import { type PageDeps, pageContext } from "./page-scope.ts";
import { renderPage } from "./render.ts";
import { closedView } from "./sign-in/closed-view.tsx";

/** What the ways in have in common: their closed doors, their forms, and the session at their end. */

/** @returns the page for a way in that is closed; undefined: it is open. */
export function answerWhenClosed(
  which: "signing in" | "signing up",
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): FastifyReply | undefined {
  const { loginsDisabled, signupsDisabled } = deps.config.accounts;
  if (!loginsDisabled && !(which === "signing up" && signupsDisabled)) return undefined;
  const closed = loginsDisabled ? "signing in" : "signing up";
  return sendPage(reply, 403, renderPage(closedView(closed, pageContext(request, deps, null))));
}

/** Puts the new session in the place of the browser's old one, which ends, and leads on. @param path one of ours. */
export async function enter(
  sessionToken: string,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  const before = deps.sessionCookies.find(request.raw, request.client);
  if (before !== undefined) await deps.accounts.signOut(before);
  reply.header("set-cookie", deps.sessionCookies.made(sessionToken, request.client));
  return goTo(path, request, reply, deps);
}

/** After a form: the browser asks for the page by GET. @param path one of ours. */
export function goTo(path: string, request: FastifyRequest, reply: FastifyReply, deps: PageDeps): FastifyReply {
  return reply.redirect(pageHref(pageContext(request, deps, null), path), 303);
}

/** For a form that is sent back because of too many attempts. @returns seconds. @throws every other error. */
export function waitAfter(error: unknown, reply: FastifyReply): number {
  if (!(error instanceof AppError) || error.code !== "too_many_requests") throw error;
  const seconds = error.retryAfterSeconds ?? 60;
  reply.header("retry-after", String(seconds));
  return seconds;
}

/** "" for a field that is missing or given several times. */
export function textOf(form: FormFields, name: string): string {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === "string" ? value : "";
}

export function passwordSentence(problem: PasswordProblem, { entry }: Pick<Words, "entry">): string {
  const { problems } = entry;
  const sentences: Readonly<Record<PasswordProblem, string>> = {
    password_length: problems.passwordLength(passwordLimits),
    password_common: problems.passwordCommon,
    password_repeated: problems.passwordRepeated,
    password_sequence: problems.passwordSequence,
    password_email: problems.passwordEmail,
  };
  return sentences[problem];
}
