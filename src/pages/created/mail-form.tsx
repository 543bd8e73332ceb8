import type { Messages } from "../../i18n/i18n.ts";
import { MailLanguageField, RecipientsField } from "../new-push/by-mail.tsx";
import type { NewPushLimits } from "../new-push/model.ts";
import { type PageContext, pageHref } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";

const headingId = "mail_link";

/** What the push's owner is offered: to have its link mailed. */
export interface MailForm {
  /** Where it is posted to. */
  readonly path: string;
  readonly auditPath: string;
  readonly limits: Pick<NewPushLimits, "recipientsMax">;
  /** As typed. */
  readonly recipients: string;
  readonly locale: string;
  readonly problem: string | undefined;
  /** The last one was taken. */
  readonly isSent: boolean;
}

export function MailSection({ form, page }: { readonly form: MailForm; readonly page: PageContext }) {
  const { messages } = page;
  const { notices } = messages;
  return (
    <section class="card mail-link no-print" aria-labelledby={headingId}>
      <h2 class="section-heading" id={headingId}>
        {notices.sendHeading}
      </h2>
      {form.isSent && <Sent auditHref={pageHref(page, form.auditPath)} messages={messages} />}
      <PostForm page={page} class="form" action={form.path} answerAt={headingId} autoComplete="off">
        <RecipientsField
          {...{ messages, limits: form.limits, label: notices.sendTo, name: "notify_emails_to", required: true }}
          value={form.recipients}
          problem={form.problem}
        />
        <MailLanguageField messages={messages} name="notify_emails_to_locale" value={form.locale} />
        <div class="form-end">
          <button type="submit" class="button">
            <Icon name="external" />
            <span>{notices.send}</span>
          </button>
        </div>
      </PostForm>
    </section>
  );
}

function Sent({ auditHref, messages: { notices } }: { readonly auditHref: string; readonly messages: Messages }) {
  return (
    <Notice tone="success" icon="check">
      <p>{notices.sent}</p>
      <p>
        <a href={auditHref}>{notices.audit}</a>
      </p>
    </Notice>
  );
}
