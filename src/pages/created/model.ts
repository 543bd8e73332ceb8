import { findMessages, type Messages } from "../../i18n/i18n.ts";
import { asksForPassphrase, type LinkDeliveryReport, type Push } from "../../pushes/pushes.ts";
import { auditPath } from "../audit/view.tsx";
import { linkOf } from "../dashboard/push-parts.tsx";
import { formLimits } from "../push-form/form.ts";
import type { PageRequest } from "../request.ts";
import { hasStep, isOwn, mayDelete } from "../secret/model.ts";
import type { FormState } from "../take-form.ts";

/** The value of `?done=` after the link was handed over for mailing. */
export const mailed = "mailed";

/** The form by which the owner has the link mailed, as it was sent. */
export interface SentMail {
  readonly recipients: string;
  /** undefined: the language of the page. */
  readonly locale: string | undefined;
  readonly state: FormState<"recipients">;
  /** The link was just handed over for mailing. */
  readonly isSent: boolean;
}

export type CreatedModel = Awaited<ReturnType<typeof createdModel>>;

export async function createdModel(page: PageRequest, push: Push, mail: SentMail) {
  const { clock, config, policies } = page.services;
  const isOwner = isOwn(push, page.actor);
  const path = `/p/${push.urlToken}`;
  const previewPath = `${path}/preview`;
  const recipientTag = recipientOf(page);
  const { mailDomains } = await policies.of(page.actor.user);
  const { recipientsMax } = formLimits(push.kind, config);
  return {
    /** Absolute address to hand out, without a language. */
    link: linkOf(push, page.pushBaseUrl),
    /** Path of this page, for the choice of the recipient's language. */
    previewPath,
    /** From `?recipient=`: the language of the link and of the message; null: the browser decides. */
    recipientTag,
    kind: push.kind,
    /** Both null: there are none, or this reader is not the owner. */
    labels: { name: push.name, note: push.note },
    viewsRemaining: push.viewsRemaining,
    expiresAt: push.expiresAt,
    nowMs: clock.now(),
    passphraseRequired: asksForPassphrase(push),
    hasStep: hasStep(push),
    /** null: the whole link is `link`. */
    endToEnd: push.endToEnd,
    deletableByViewer: push.deletableByViewer,
    /** Path of the delete form; null: this reader may not delete. */
    deletePath: mayDelete(push, page.actor) ? `${path}/expire` : null,
    /** null: this reader is not the owner. */
    owned: isOwner
      ? {
          openedText: openedText(push, page.messages),
          /** Path of the answer with which the script replaces `openedText`. */
          openedPath: `${previewPath}/opened?locale=${page.messages.locale.tag}${mail.isSent ? `&done=${mailed}` : ""}`,
          /** The delivery of the link that was just handed over for mailing. */
          delivery: mail.isSent ? await latestDelivery(push, page) : undefined,
          auditPath: auditPath(push.urlToken),
          editPath: `${path}/edit`,
          anotherPath: `${path}/another`,
        }
      : null,
    /** null: this reader may not have the link mailed. */
    mailForm:
      isOwner && push.endToEnd === null && config.linkDeliveries.enabled && mailDomains?.length !== 0
        ? {
            ...mail,
            /** Path that it is posted to. */
            path: `${path}/notify_emails`,
            limits: { recipientsMax },
            /** The domains that links may be mailed to; null: all. */
            mailDomains,
            locale: mail.locale ?? recipientTag ?? page.messages.locale.tag,
          }
        : null,
  };
}

/** The language that was chosen for the recipient; null: none. */
export function recipientOf(page: PageRequest): string | null {
  return findMessages(page.query("recipient"), page.services.config.languages)?.locale.tag ?? null;
}

/** @returns undefined: the trail's first page has none. */
export async function latestDelivery({ urlToken }: Push, page: PageRequest): Promise<LinkDeliveryReport | undefined> {
  const trail = await page.services.pushes.trail(urlToken, page.actor, 1);
  for (const event of trail?.events ?? []) {
    if ("linkDelivery" in event && event.linkDelivery !== undefined) return event.linkDelivery;
  }
  return undefined;
}

export function openedText(push: Push, { created }: Messages): string {
  if (push.views === 0) return push.expired ? created.neverOpened : created.notOpened;
  const further = push.expired ? created.opensNoMore : created.opensAgain({ count: push.viewsRemaining });
  return `${created.openedTimes({ count: push.views })} ${further}`;
}
