import type { FastifyReply, FastifyRequest } from "fastify";
import { sendPage } from "../../http/headers.ts";
import { goTo, waitAfter } from "../answers.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, sessionOf } from "../page-scope.ts";
import { browserName } from "../parts/browser-name.ts";
import { providerNameOf } from "../single-sign-on/button.tsx";
import { defaultsForm } from "./defaults-form.ts";
import {
  type AccountModel,
  type AccountProblems,
  accountPath,
  type DefaultsForm,
  type Done,
  mayConfirm,
} from "./model.ts";
import { accountView } from "./view.tsx";

/** What the page shows besides what is stored. */
export interface Shown {
  readonly status?: number;
  readonly done?: Done | null;
  readonly problems?: AccountProblems;
  readonly newEmail?: string;
  readonly language?: string;
  readonly defaults?: DefaultsForm;
}

export async function sendAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  shown: Shown = {},
): Promise<FastifyReply> {
  const page = pageContext(request, deps, request.method === "GET" ? accountPath : null);
  const model = await accountModel(request, deps, shown);
  return sendPage(reply, shown.status ?? 200, renderPage(accountView(model, page)));
}

async function accountModel(request: FastifyRequest, deps: PageDeps, shown: Shown): Promise<AccountModel> {
  const { accounts, config, clock } = deps;
  const { id: currentId, user } = sessionOf(request);
  const { messages } = pageContext(request, deps, null);
  const [defaults, unconfirmedEmail, sessions, tokens] = await Promise.all([
    accounts.pushDefaults(user.id),
    accounts.unconfirmedEmail(user.id),
    accounts.listSessions(user.id),
    accounts.listTokens(user.id),
  ]);
  const { email, hasPassword, hasSecondFactor } = user;
  const now = clock.now();
  return {
    ...{ email, hasPassword, hasSecondFactor, unconfirmedEmail, now },
    provider: providerNameOf(config),
    confirmsByMail: config.accounts.emails,
    mayConfirm: mayConfirm(user, config),
    newEmail: shown.newEmail ?? "",
    language: shown.language ?? user.language ?? "",
    defaults: shown.defaults ?? defaultsForm(defaults, config),
    sessions: sessions
      .map(({ userAgent, ...session }) => ({
        ...session,
        browser: browserName(userAgent, messages),
        current: session.id === currentId,
      }))
      .sort((a, b) => Number(b.current) - Number(a.current)),
    tokensInUse: tokens.filter((token) => token.revokedAt === null && (token.expiresAt ?? now + 1) > now).length,
    done: shown.done ?? null,
    problems: shown.problems ?? {},
  };
}

/** Back to the page, which says once what was done. */
export function redirectDone(request: FastifyRequest, reply: FastifyReply, deps: PageDeps, done: Done): FastifyReply {
  return goTo(`${accountPath}?done=${done}`, request, reply, deps);
}

/**
 * Runs what may be done so many times only, as typing a password. Too many are told beside the field.
 * @param field the control it was done with.
 */
export async function withWaitTold(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  field: keyof AccountProblems,
  step: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await step();
  } catch (error) {
    const count = waitAfter(error, reply);
    const problem = pageContext(request, deps, null).messages.problems.tooManyAttempts({ count });
    return await sendAccount(request, reply, deps, { status: 429, problems: { [field]: problem } });
  }
}

/** What to say when `confirmIdentity` said no. */
export function notConfirmed(request: FastifyRequest, deps: PageDeps): string {
  const { again } = pageContext(request, deps, null).messages.profile;
  return sessionOf(request).user.hasPassword ? again.wrong : again.signIn;
}
