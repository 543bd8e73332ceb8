import type { ComponentChildren } from "preact";
import { signInPath } from "../../http/authentication.ts";
import { type PageContext, pageHref } from "../page.ts";
import { Notice } from "../parts/notice.tsx";
import { UnsentNotice } from "../parts/unsent-notice.tsx";
import { type SessionProblem, withoutAccountField } from "./form.ts";

interface FormMessagesProps {
  readonly page: PageContext;
  /** What the form says if the server does not answer. */
  readonly unanswered: string;
  readonly children: ComponentChildren;
}

/**
 * Messages about the form as a whole. Its script (browser/parts/send.ts) replaces them by those of an answer, or by its own
 * one, so that the page stays with everything that was typed.
 */
export function FormMessages({ page, unanswered, children }: FormMessagesProps) {
  const { sending } = page.messages;
  return (
    <>
      <div
        class="form-messages"
        data-form-messages
        data-waiting={sending.sending}
        data-kept={sending.kept}
        data-unanswered-heading={sending.unansweredHeading}
        data-unanswered={unanswered}
        data-failed-heading={sending.failedHeading}
        data-failed={sending.failed({ status: "{status}" })}
      >
        {children}
      </div>
      <template data-form-message>
        <UnsentNotice page={page} />
      </template>
    </>
  );
}

interface SessionNoticeProps {
  readonly problem: SessionProblem | null;
  /** The id of the form, if it can be sent without an account. */
  readonly withoutAccountForm?: string | undefined;
  readonly page: PageContext;
}

/** Nothing has happened, because the form is not of this session. */
export function SessionNotice({ problem, withoutAccountForm, page }: SessionNoticeProps) {
  const { sending } = page.messages;
  switch (problem) {
    case null:
      return null;
    case "outdated":
      return (
        <Notice tone="warning" icon="shield" alert>
          <h2 class="notice-heading">{sending.outdatedHeading}</h2>
          <p>{sending.outdated}</p>
        </Notice>
      );
    case "other_account":
      return (
        <Notice tone="warning" icon="shield" alert>
          <h2 class="notice-heading">{sending.otherAccountHeading}</h2>
          <p>{sending.otherAccount.parts({ email: <bdi key="email">{page.user?.email}</bdi> })}</p>
        </Notice>
      );
    case "signed_out":
      return (
        <Notice tone="warning" icon="shield" alert>
          <h2 class="notice-heading">{sending.signedOutHeading}</h2>
          <p>{sending.signedOut}</p>
          {withoutAccountForm !== undefined && <p>{sending.orWithout}</p>}
          <p class="notice-actions">
            <a class="button" href={pageHref(page, signInPath)} target="_blank" rel="noopener">
              {sending.signIn}
            </a>
            {withoutAccountForm !== undefined && (
              <button type="submit" class="button" form={withoutAccountForm} name={withoutAccountField} value="1">
                {sending.createWithout}
              </button>
            )}
          </p>
        </Notice>
      );
  }
}
