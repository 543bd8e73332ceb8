import { pageOf } from "../../http/parameters.ts";
import { type FailedEmail, failedPageSize } from "../../mail/mail.ts";
import { List } from "../lists/list.tsx";
import { type Page, type PageContext, untranslated, useMessages } from "../page.ts";
import { EmailAddress } from "../parts/email-address.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm, PostButton } from "../parts/post-form.tsx";
import type { Reply, SignedInRequest } from "../request.ts";
import { AdminFrame, adminPaths, entryOf } from "./frame.tsx";
import { jobPaths } from "./jobs.tsx";

/** `GET /admin/mails` */
export function showMails(page: SignedInRequest): Promise<Reply> {
  return renderMails(page, 200, page.query("queued") === "1" ? "queued" : null);
}

/** `POST /admin/mails/:id/retry` */
export async function retryMail(page: SignedInRequest): Promise<Reply> {
  const outcome = await page.services.mail.retry(page.id, entryOf(page, "retried_mail", String(page.id)));
  if (outcome === "queued") return page.redirect(`${adminPaths.mails}?queued=1`);
  return renderMails(page, outcome === "unknown" ? 404 : 422, outcome);
}

/** `POST /admin/mails/:id/discard` */
export async function discardMail(page: SignedInRequest): Promise<Reply> {
  const discarded = await page.services.mail.discard(page.id, entryOf(page, "discarded_mail", String(page.id)));
  return discarded ? page.redirect(adminPaths.mails) : page.notFound();
}

/** @param outcome the result of the button that was pressed. */
async function renderMails(page: SignedInRequest, status: number, outcome: Outcome | null): Promise<Reply> {
  return page.renderForm(mailsView, await mailsModel(page, outcome), { status, path: adminPaths.mails });
}

type Outcome = "queued" | "link_over" | "unknown";

type MailsModel = Awaited<ReturnType<typeof mailsModel>>;

async function mailsModel(page: SignedInRequest, outcome: Outcome | null) {
  const { config, mail, clock } = page.services;
  const number = page.isGet ? pageOf(page.request) : 1;
  const emails = await mail.failedEmails(number);
  return { outcome, page: number, emails, nowMs: clock.now(), isOff: config.mail === undefined };
}

export function mailsView(model: MailsModel, page: PageContext): Page {
  const { admin } = page.messages;
  const outcomes = { queued: admin.queued, link_over: admin.linkOver, unknown: admin.unknownMail };
  return (
    <AdminFrame page={page} current="mails" lead={admin.mailsLead}>
      {model.isOff && <Notice tone="info" icon="alert" text={admin.mailOff} />}
      {model.outcome !== null && (
        <Notice
          tone={model.outcome === "queued" ? "success" : "danger"}
          icon={model.outcome === "queued" ? "check" : "alert"}
          alert
          text={outcomes[model.outcome]}
        />
      )}
      {model.emails.length > 1 && (
        <PostButton action={jobPaths.retryEmails} label={admin.retryEmails} icon="again" look="action" />
      )}
      <List
        nowMs={model.nowMs}
        caption={admin.mails}
        rows={model.emails}
        columns={[
          {
            label: admin.recipient,
            long: true,
            value: (email) => (
              <>
                <bdi translate={email.to === null ? undefined : untranslated}>
                  <EmailAddress email={email.to ?? admin.unreadable} />
                </bdi>{" "}
                {email.kind !== null && <span class="field-hint">{admin.mailKinds[email.kind]}</span>}
              </>
            ),
          },
          { label: admin.written, narrow: "unlabelled", time: ({ createdAt }) => createdAt },
          {
            label: admin.attempts,
            narrow: "hidden",
            value: ({ attempts }) => page.messages.formats.number(attempts),
          },
          {
            label: admin.lastError,
            long: true,
            value: ({ lastError }) => (
              <span lang="en" dir="ltr">
                {lastError}
              </span>
            ),
          },
        ]}
        actions={(email) => <EmailActions email={email} />}
        empty={<p>{admin.noMails}</p>}
        at={{ path: adminPaths.mails }}
        paging={{ number: model.page, hasMore: model.emails.length === failedPageSize }}
      />
    </AdminFrame>
  );
}

function EmailActions({ email }: { readonly email: FailedEmail }) {
  const { admin } = useMessages();
  const name = email.to ?? admin.unreadable;
  return (
    <div class="row-actions">
      <PostButton
        action={`${adminPaths.mails}/${email.id}/retry`}
        label={admin.retry}
        icon="again"
        look="action"
        aria-label={admin.actionOn({ action: admin.retry, name })}
      />
      <Confirm
        icon="trash"
        label={admin.discard}
        accessibleLabel={admin.actionOn({ action: admin.discard, name })}
        explanation={admin.discardText}
        action={`${adminPaths.mails}/${email.id}/discard`}
        group="action"
      />
    </div>
  );
}
