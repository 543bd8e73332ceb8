import type { Messages } from "../../i18n/i18n.ts";
import { type FailedEmail, failedPageSize } from "../../mail/mail.ts";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { Fact } from "../parts/fact.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import { BothTimes } from "../parts/times.tsx";
import { AdminFrame, adminPaths } from "./frame.tsx";

export interface MailsModel {
  readonly letters: readonly FailedEmail[];
  readonly page: number;
  readonly nowMs: number;
  /** What a press of a button came to. */
  readonly outcome: "queued" | "link_over" | "unknown" | null;
  readonly isOff: boolean;
}

export function mailsView(model: MailsModel, page: PageContext): Page {
  const { admin } = page.messages;
  const hasMore = model.letters.length === failedPageSize;
  const hrefOf = (number: number) => pageHref(page, `${adminPaths.mails}?page=${number}`);
  return (
    <AdminFrame page={page} current="mails" lead={admin.mailsLead}>
      {model.isOff && (
        <Notice tone="info" icon="alert">
          <p>{admin.mailOff}</p>
        </Notice>
      )}
      {model.outcome !== null && <Outcome outcome={model.outcome} messages={page.messages} />}
      {model.letters.length === 0 ? (
        <p>{admin.noMails}</p>
      ) : (
        <ul class="card admin-rows">
          {model.letters.map((letter) => (
            <EmailRow key={letter.id} letter={letter} nowMs={model.nowMs} page={page} />
          ))}
        </ul>
      )}
      <Pager messages={page.messages} number={model.page} hasMore={hasMore} hrefOf={hrefOf} />
    </AdminFrame>
  );
}

function Outcome({
  outcome,
  messages,
}: {
  readonly outcome: "queued" | "link_over" | "unknown";
  readonly messages: Messages;
}) {
  const { admin } = messages;
  const texts = { queued: admin.queued, link_over: admin.linkOver, unknown: admin.unknownMail };
  return (
    <Notice tone={outcome === "queued" ? "success" : "danger"} icon={outcome === "queued" ? "check" : "alert"} alert>
      <p>{texts[outcome]}</p>
    </Notice>
  );
}

interface EmailRowProps {
  readonly letter: FailedEmail;
  readonly nowMs: number;
  readonly page: PageContext;
}

function EmailRow({ letter, nowMs, page }: EmailRowProps) {
  const { messages } = page;
  const { admin } = messages;
  const name = letter.to ?? admin.unreadable;
  return (
    <li class="row">
      <div class="row-main">
        <h2 class="row-title" dir="auto">
          {name}
        </h2>
        {letter.kind !== null && <code class="badge">{letter.kind}</code>}
      </div>
      <dl class="admin-row-facts">
        <Fact label={admin.written}>
          <BothTimes timeMs={letter.createdAt} nowMs={nowMs} messages={messages} />
        </Fact>
        <Fact label={admin.attempts}>{messages.formats.number(letter.attempts)}</Fact>
        <Fact label={admin.lastError} long>
          <span lang="en" dir="ltr">
            {letter.lastError}
          </span>
        </Fact>
      </dl>
      <div class="row-actions">
        <PostForm page={page} action={`${adminPaths.mails}/${letter.id}/retry`}>
          <button type="submit" class="link-button action" aria-label={admin.actionOn({ action: admin.retry, name })}>
            <Icon name="again" />
            <span>{admin.retry}</span>
          </button>
        </PostForm>
        <Confirm
          page={page}
          icon="trash"
          label={admin.discard}
          accessibleLabel={admin.actionOn({ action: admin.discard, name })}
          explanation={admin.discardText}
          confirm={admin.confirm}
          action={`${adminPaths.mails}/${letter.id}/discard`}
        />
      </div>
    </li>
  );
}
