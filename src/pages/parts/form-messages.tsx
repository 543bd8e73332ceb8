import type { ComponentChildren } from "preact";
import { signInPath } from "../../http/authentication.ts";
import { pageHref, useMessages, usePage } from "../page.ts";
import type { FormState } from "../take-form.ts";
import { Submit } from "./buttons.tsx";
import { Icon } from "./icon.tsx";
import { type FieldProblem, Notice } from "./notice.tsx";
import { UnsentNotice } from "./unsent-notice.tsx";

interface FormMessagesProps {
  /** What the form says if the server does not answer. */
  readonly unanswered: string;
  readonly children: ComponentChildren;
}

/**
 * Messages about the form as a whole. Its script (browser/parts/send.ts) replaces them by those of an answer, or by its own
 * one, so that the page stays with everything that was typed.
 */
export function FormMessages({ unanswered, children }: FormMessagesProps) {
  const { sending } = useMessages();
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
        <UnsentNotice />
      </template>
    </>
  );
}

/** The name of the button that creates a push without the account for which its form was rendered. */
export const withoutAccountField = "without_account";

interface FormNoticesProps {
  readonly state: Pick<FormState, "refusal" | "reason"> & Partial<Pick<FormState, "status">>;
  readonly problems?: readonly FieldProblem[];
  /** The id of the form, if it can be sent without an account. */
  readonly withoutAccountForm?: string | undefined;
  /** Below the refusal. */
  readonly children?: ComponentChildren;
}

/** Why a form was sent back. */
export function FormNotices({ state, problems = [], withoutAccountForm, children }: FormNoticesProps) {
  const { problems: text } = useMessages();
  return (
    <>
      {state.refusal !== null && (
        <Notice tone="danger" icon={state.status === 401 || state.status === 422 ? "alert" : "clock"} alert>
          <p>{state.refusal}</p>
          {children}
        </Notice>
      )}
      <ReasonNotice reason={state.reason} withoutAccountForm={withoutAccountForm} />
      {/* All problems, each with a link to its field. Takes the focus where scripts run. */}
      {problems.length > 0 && (
        <div class="notice notice-danger" role="alert" tabIndex={-1} data-focus>
          <Icon name="alert" />
          <div class="notice-text">
            <h2 class="notice-heading">{text.heading}</h2>
            <ul>
              {problems.map(({ fieldId, message }) => (
                <li key={fieldId}>
                  <a href={`#${fieldId}`}>{message}</a>
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
    </>
  );
}

type ReasonNoticeProps = Pick<FormState, "reason"> & Pick<FormNoticesProps, "withoutAccountForm">;

/** Nothing has happened: the form is not of this session, or somebody else was quicker. */
function ReasonNotice({ reason, withoutAccountForm }: ReasonNoticeProps) {
  const page = usePage();
  const { edit, sending } = page.messages;
  switch (reason) {
    case "outdated":
      return <Notice tone="warning" icon="shield" alert heading={sending.outdatedHeading} text={sending.outdated} />;
    case "other_account":
      return (
        <Notice
          tone="warning"
          icon="shield"
          alert
          heading={sending.otherAccountHeading}
          text={sending.otherAccount.parts({ email: <bdi key="email">{page.user?.email}</bdi> })}
        />
      );
    case "signed_out":
      return (
        <Notice tone="warning" icon="shield" alert heading={sending.signedOutHeading} text={sending.signedOut}>
          {withoutAccountForm !== undefined && <p>{sending.orWithout}</p>}
          <p class="page-actions">
            <a class="button" href={pageHref(page, signInPath)} target="_blank" rel="noopener">
              {sending.signIn}
            </a>
            {withoutAccountForm !== undefined && (
              <Submit
                label={sending.createWithout}
                look="plain"
                form={withoutAccountForm}
                name={withoutAccountField}
                value="1"
              />
            )}
          </p>
        </Notice>
      );
    case "changed_meanwhile":
      return <Notice tone="warning" icon="alert" alert heading={edit.changedHeading} text={edit.changedText} />;
    // Their forms say it themselves.
    case "unsealed":
    case "form_used":
    case null:
      return null;
  }
}
