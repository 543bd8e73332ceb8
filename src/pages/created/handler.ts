import { AppError } from "../../base/errors.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { attachment, sendJson } from "../../http/headers.ts";
import { auditPath } from "../audit/view.tsx";
import { linkOf } from "../dashboard/push-parts.tsx";
import { renderGone } from "../gone.tsx";
import { withLocale } from "../page.ts";
import { qrCodePng, qrCodeSvg } from "../parts/qr-code.tsx";
import { recipientsProblem } from "../push-form/fields.tsx";
import { formLimits } from "../push-form/form.ts";
import type { PageRequest, Reply, SignedInRequest } from "../request.ts";
import { isOwn } from "../secret/model.ts";
import { type FormDeclaration, formHandler, untouched } from "../take-form.ts";
import { createdModel, latestDelivery, mailed, openedText, recipientOf, type SentMail } from "./model.ts";
import { createdView } from "./view.tsx";

/** The page with the link of a push. */
export function linkPagePath(urlToken: string, { isMailed }: { readonly isMailed: boolean }): string {
  return `/p/${urlToken}/preview${isMailed ? `?done=${mailed}` : ""}`;
}

/**
 * `GET /p/:token/preview`: the link to hand out, for everybody who has it already. It opens nothing and counts nothing. The
 * push's owner can have the link mailed from there.
 */
export function showCreated(page: PageRequest): Promise<Reply> {
  const isSent = page.query("done") === mailed;
  return renderCreated(page, { recipients: "", locale: undefined, state: untouched, isSent });
}

const mailForm: FormDeclaration<SignedInRequest, { recipients: string; locale: string }, "recipients"> = {
  read: (fields) => ({
    recipients: textOf(fields, "notify_emails_to"),
    locale: textOf(fields, "notify_emails_to_locale"),
  }),
  show: (page, typed, state) => renderCreated(page, { ...typed, state, isSent: false }),
  attemptsAt: "recipients",
  describe: (page) => ({
    problems: { recipients: recipientsProblem(formLimits("text", page.services.config), page.messages) },
  }),
};

/** `POST /p/:token/notify_emails` */
export const mailLink = formHandler(mailForm, async (page, { recipients, locale }) => {
  const { urlToken } = page;
  if (urlToken === undefined) return renderGone(page);
  const wanted = { notifyEmailsTo: recipients, notifyEmailsToLocale: locale };
  await page.services.pushes.deliverLink(urlToken, () => wanted, page.actor);
  return page.redirect(linkPagePath(urlToken, { isMailed: true }));
});

async function renderCreated(page: PageRequest, mail: SentMail): Promise<Reply> {
  const push = await page.findPush();
  if (push === undefined) return renderGone(page);
  // The trail says more than that the link is gone.
  if (push.expired) return isOwn(push, page.actor) ? page.redirect(auditPath(push.urlToken)) : renderGone(page);
  const model = await createdModel(page, push, mail);
  const { previewPath, recipientTag } = model;
  const selfPath = recipientTag === null ? previewPath : `${previewPath}?recipient=${recipientTag}`;
  return page.renderForm(createdView, model, { status: mail.state.status, path: selfPath });
}

/** `GET /p/:token/preview/qr?format=svg` or `png`: the QR code of the link as a file. */
export async function downloadCode(page: PageRequest): Promise<Reply> {
  const format = page.query("format");
  if (format !== "svg" && format !== "png") throw new AppError("invalid_request", "The format must be svg or png.");
  const push = await page.findPush();
  // A code without the key in the link opens nothing.
  if (push === undefined || push.expired || push.endToEnd !== null) return renderGone(page);
  const recipientTag = recipientOf(page);
  const plain = linkOf(push, page.pushBaseUrl);
  const link = recipientTag === null ? plain : withLocale(plain, recipientTag);
  page.reply.header("content-disposition", attachment(`qr-code.${format}`));
  return format === "svg"
    ? page.reply.type("image/svg+xml").send(qrCodeSvg(link, page.messages.created.qr))
    : page.reply.type("image/png").send(qrCodePng(link));
}

/** `GET /p/:token/preview/opened`: for the script of the link's page. It counts nothing. */
export async function showOpened(page: SignedInRequest): Promise<Reply> {
  const push = await page.findPush();
  if (push === undefined || !isOwn(push, page.actor)) return page.notFound();
  const delivery = page.query("done") === mailed ? await latestDelivery(push, page) : undefined;
  return sendJson(page.reply, 200, {
    text: openedText(push, page.messages),
    final: push.expired,
    ...(delivery === undefined ? {} : { delivery: page.messages.pushEmails.statuses[delivery.status] }),
  });
}
