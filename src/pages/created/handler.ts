import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../base/errors.ts";
import { receiveForm } from "../../http/body/receive-body.ts";
import { sendPage } from "../../http/headers.ts";
import { findMessages } from "../../i18n/i18n.ts";
import type { Push } from "../../pushes/pushes.ts";
import { goTo } from "../answers.ts";
import { auditPath } from "../audit/view.tsx";
import { sendGone } from "../gone/handler.ts";
import { limitsOf } from "../new-push/limits.ts";
import { recipientsProblem } from "../new-push/model.ts";
import { renderPage } from "../page.ts";
import { type PageDeps, pageContext, queryOf, tokenOf } from "../page-scope.ts";
import { mayDelete } from "../secret/handler.ts";
import type { MailForm } from "./mail-form.tsx";
import { linkPagePath, mailed } from "./path.ts";
import { createdView } from "./view.tsx";

/**
 * `/p/:token/preview`: the link to hand out, for whoever has it already. It opens nothing and counts nothing. From there its
 * owner can have it mailed.
 */
export function registerCreatedPage(server: FastifyInstance, deps: PageDeps): void {
  const config = { access: "page", changesState: false } as const;
  const showing = (request: FastifyRequest, reply: FastifyReply) => show(request, reply, deps, untouched(request));
  server.get("/p/:token/preview", { config }, showing);
  server.get("/p/:token/r/preview", { config }, showing);
  if (!deps.config.linkDeliveries.enabled) return;
  const sending = { access: "page_session", changesState: true } as const;
  server.post("/p/:token/notify_emails", { config: sending }, (request, reply) => mailLink(request, reply, deps));
}

/** How the form for mails looks; `locale` undefined: as the page. */
interface MailState extends Pick<MailForm, "recipients" | "problem" | "isSent"> {
  readonly locale: string | undefined;
  readonly status: number;
}

function untouched(request: FastifyRequest): MailState {
  const isSent = queryOf(request, "done") === mailed;
  return { recipients: "", locale: undefined, problem: undefined, isSent, status: 200 };
}

async function show(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
  state: MailState,
): Promise<FastifyReply> {
  const token = tokenOf(request);
  const push = token === undefined ? undefined : await deps.pushes.find(token, request.actor);
  if (push === undefined || push.expired) return sendGone(request, reply, deps);
  const previewPath = `/p/${push.urlToken}/preview`;
  const recipientTag = findMessages(queryOf(request, "recipient"))?.locale.tag ?? null;
  const selfPath = recipientTag === null ? previewPath : `${previewPath}?recipient=${recipientTag}`;
  const page = pageContext(request, deps, request.method === "GET" ? selfPath : null);
  const locale = state.locale ?? recipientTag ?? page.messages.locale.tag;
  const model = {
    link: `${request.baseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`,
    previewPath,
    recipientTag,
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    passphraseRequired: push.passphraseRequired,
    retrievalStep: push.retrievalStep,
    deletableByViewer: push.deletableByViewer,
    deletePath: mayDelete(push, request.actor) ? `/p/${push.urlToken}/expire` : null,
    mailForm: mayMail(push, request, deps) ? mailFormOf(push, deps, { ...state, locale }) : null,
  };
  return sendPage(reply, state.status, renderPage(createdView(model, page)));
}

/** An anonymous push has no owner: null is equal to nobody. */
function mayMail({ ownerId }: Push, { user }: FastifyRequest, { config }: PageDeps): boolean {
  return config.linkDeliveries.enabled && user !== null && ownerId !== null && ownerId === user.id;
}

function mailFormOf(
  { urlToken, kind }: Push,
  { config }: PageDeps,
  { recipients, locale, problem, isSent }: Pick<MailForm, "recipients" | "locale" | "problem" | "isSent">,
): MailForm {
  const paths = { path: `/p/${urlToken}/notify_emails`, auditPath: auditPath(urlToken) };
  return { ...paths, limits: limitsOf(kind, config), recipients, locale, problem, isSent };
}

async function mailLink(request: FastifyRequest, reply: FastifyReply, deps: PageDeps): Promise<FastifyReply> {
  const token = tokenOf(request);
  if (token === undefined) return sendGone(request, reply, deps);
  const fields = await receiveForm(request, deps.bodyBudget);
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name] : "");
  const asked = { notifyEmailsTo: text("notify_emails_to"), notifyEmailsToLocale: text("notify_emails_to_locale") };
  try {
    await deps.pushes.deliverLink(token, asked, request.actor);
    return goTo(linkPagePath(token, { isMailed: true }), request, reply, deps);
  } catch (error) {
    const { status, problem } = refusalOf(error, request, reply, deps);
    const typed = { recipients: asked.notifyEmailsTo, locale: asked.notifyEmailsToLocale };
    return await show(request, reply, deps, { ...typed, problem, isSent: false, status });
  }
}

/** What the form that is sent back says. @throws every error that it does not. */
function refusalOf(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PageDeps,
): { readonly status: number; readonly problem: string } {
  if (!(error instanceof AppError)) throw error;
  const { messages } = pageContext(request, deps, null);
  if (error.code === "too_many_requests") {
    const count = error.retryAfterSeconds ?? 60;
    reply.header("retry-after", String(count));
    return { status: 429, problem: messages.problems.tooManyAttempts({ count }) };
  }
  if (error.code !== "invalid_fields") throw error;
  const limits = limitsOf("text", deps.config);
  return { status: 422, problem: recipientsProblem(limits, messages) };
}
