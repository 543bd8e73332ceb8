import type { FastifyReply, FastifyRequest } from "fastify";
import type { PasswordProblem } from "../accounts/accounts.ts";
import { passwordLimits } from "../accounts/accounts.ts";
import { sendPage } from "../http/headers.ts";
import type { Messages } from "../i18n/i18n.ts";
import { goTo } from "./answers.ts";
import { renderPage } from "./page.ts";
import { type PageDeps, pageContext } from "./page-scope.ts";
import { closedView } from "./sign-in/closed-view.tsx";

/** What the ways in have in common: their closed doors, what they say, and the session at their end. */

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

/** Puts the new session in the place of the browser's old one, which ends. */
export async function takeSession(
  sessionToken: string,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<void> {
  const before = deps.sessionCookies.find(request.raw, request.client);
  if (before !== undefined) await deps.accounts.signOut(before);
  reply.header("set-cookie", deps.sessionCookies.made(sessionToken, request.client));
}

/** Takes the session and leads on. @param path one of ours. */
export async function enter(
  sessionToken: string,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): Promise<FastifyReply> {
  await takeSession(sessionToken, request, reply, deps);
  return goTo(path, request, reply, deps);
}

export function passwordSentence(problem: PasswordProblem, { entry }: Pick<Messages, "entry">): string {
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
