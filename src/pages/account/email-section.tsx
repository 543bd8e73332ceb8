import { EmailField } from "../parts/fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { accountPath } from "./model.ts";
import { AskAgain, Section } from "./section.tsx";
import type { AccountProps } from "./view.tsx";

export function EmailSection({ model, page }: AccountProps) {
  const { email } = page.messages.profile;
  return (
    <Section name="email" heading={email.heading}>
      <p class="account-email">{email.current.parts({ email: <strong dir="ltr">{model.email}</strong> })}</p>
      {model.unconfirmedEmail !== null && (
        <Notice tone="info" icon="clock">
          <p class="account-email">
            {email.waiting.parts({ email: <strong dir="ltr">{model.unconfirmedEmail}</strong> })}
          </p>
        </Notice>
      )}
      {model.mayConfirm && <Confirmation model={model} page={page} />}
      <PostForm page={page} class="form" action={`${accountPath}/email`}>
        <EmailField
          label={email.new}
          hint={model.confirmsByMail ? email.hintLink : email.hintAtOnce}
          value={model.newEmail}
          problem={model.problems.email}
          autoComplete="email"
        />
        <AskAgain id="email_password" model={model} page={page} />
        <div class="form-end">
          <button type="submit" class="button button-primary">
            {email.submit}
          </button>
        </div>
      </PostForm>
    </Section>
  );
}

/** Of the address that the account has. What was asked for is answered here, not at the head of the page. */
function Confirmation({ model, page }: AccountProps) {
  const { confirmation } = page.messages.profile.email;
  const id = "email_confirmation";
  const problem = model.problems[id];
  return (
    <div class="account-confirmation">
      {model.done === "confirmation" ? (
        <Notice tone="success" icon="check" alert>
          <p>{confirmation.sent}</p>
        </Notice>
      ) : (
        <Notice tone="info" icon="alert">
          <p>{confirmation.missing}</p>
        </Notice>
      )}
      {problem !== undefined && (
        <p class="field-problem" id={`${id}_problem`}>
          {problem}
        </p>
      )}
      <PostForm page={page} action={`${accountPath}/email/confirmation`} answerAt="email_section">
        <div class="form-end">
          <button
            type="submit"
            class="button"
            id={id}
            aria-describedby={problem === undefined ? undefined : `${id}_problem`}
          >
            {model.done === "confirmation" ? confirmation.again : confirmation.send}
          </button>
        </div>
      </PostForm>
    </div>
  );
}
