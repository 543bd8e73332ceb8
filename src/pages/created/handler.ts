import type { FastifyReply } from "fastify";
import { AppError } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { findMessages } from "../../i18n/i18n.ts";
import type { Push } from "../../pushes/pushes.ts";
import { auditPath } from "../audit/view.tsx";
import { renderGone } from "../gone.tsx";
import { recipientsProblem } from "../push-form/fields.tsx";
import { formLimits } from "../push-form/form.ts";
import type { PageRequest, SignedInRequest } from "../request.ts";
import { mayDelete } from "../secret/handler.ts";
import { createdView, type MailForm } from "./view.tsx";

/** The value of `?done=` after the link was handed over for mailing. */
const mailed = "mailed";

/** The page with the link of a push. */
export function linkPagePath(urlToken: string, { isMailed }: { readonly isMailed: boolean }): string {
  return `/p/${urlToken}/preview${isMailed ? `?done=${mailed}` : ""}`;
}

/**
 * `GET /p/:token/preview`: the link to hand out, for everybody who has it already. It opens nothing and counts nothing. The
 * push's owner can have the link mailed from there.
 */
export function showCreated(page: PageRequest): Promise<FastifyReply> {
  const isSent = page.query("done") === mailed;
  return renderCreated(page, { recipients: "", locale: undefined, problem: undefined, isSent }, 200);
}

/** `POST /p/:token/notify_emails` */
export async function mailLink(page: SignedInRequest): Promise<FastifyReply> {
  const { urlToken } = page;
  if (urlToken === undefined) return renderGone(page);
  const form = await page.form();
  const recipients = textOf(form, "notify_emails_to");
  const locale = textOf(form, "notify_emails_to_locale");
  try {
    const wanted = { notifyEmailsTo: recipients, notifyEmailsToLocale: locale };
    await page.services.pushes.deliverLink(urlToken, () => wanted, page.actor);
    return page.redirect(linkPagePath(urlToken, { isMailed: true }));
  } catch (error) {
    const { status, problem } = refusalOf(error, page);
    return await renderCreated(page, { recipients, locale, problem, isSent: false }, status);
  }
}

/** `locale` undefined: the language of the page. */
type MailState = Pick<MailForm, "recipients" | "problem" | "isSent"> & { readonly locale: string | undefined };

async function renderCreated(page: PageRequest, mail: MailState, status: number): Promise<FastifyReply> {
  const { urlToken } = page;
  const push = urlToken === undefined ? undefined : await page.services.pushes.find(urlToken, page.actor);
  if (push === undefined || push.expired) return renderGone(page);
  const previewPath = `/p/${push.urlToken}/preview`;
  const recipientTag = findMessages(page.query("recipient"), page.services.config.languages)?.locale.tag ?? null;
  const locale = mail.locale ?? recipientTag ?? page.messages.locale.tag;
  const model = {
    link: `${page.pushBaseUrl}/p/${push.urlToken}${push.retrievalStep ? "/r" : ""}`,
    previewPath,
    recipientTag,
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    passphraseRequired: push.passphraseRequired,
    retrievalStep: push.retrievalStep,
    deletableByViewer: push.deletableByViewer,
    deletePath: mayDelete(push, page.actor) ? `/p/${push.urlToken}/expire` : null,
    mailForm: mayMail(push, page)
      ? {
          path: `/p/${push.urlToken}/notify_emails`,
          auditPath: auditPath(push.urlToken),
          limits: formLimits(push.kind, page.services.config),
          recipients: mail.recipients,
          locale,
          problem: mail.problem,
          isSent: mail.isSent,
        }
      : null,
  };
  const selfPath = recipientTag === null ? previewPath : `${previewPath}?recipient=${recipientTag}`;
  return page.render(createdView, model, { status, selfPath: page.isGet ? selfPath : null });
}

/** An anonymous push has no owner: null equals nobody. */
function mayMail({ ownerId }: Push, { user, services }: PageRequest): boolean {
  return services.config.linkDeliveries.enabled && user !== null && ownerId !== null && ownerId === user.id;
}

/** What the form says when it is sent back. @throws every error that is not about the form. */
function refusalOf(error: unknown, page: PageRequest): { readonly status: number; readonly problem: string } {
  if (!(error instanceof AppError)) throw error;
  if (error.code === "too_many_requests") {
    return { status: 429, problem: page.messages.problems.tooManyAttempts({ count: page.waitAfter(error) }) };
  }
  if (error.code !== "invalid_fields") throw error;
  return { status: 422, problem: recipientsProblem(formLimits("text", page.services.config), page.messages) };
}
