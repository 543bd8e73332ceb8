import { EmailField } from "../parts/input-fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { accountPath } from "./model.ts";
import { AskAgain, Section } from "./section.tsx";
import type { AccountProps } from "./view.tsx";

export function EmailSection({ model, page }: AccountProps) {
  const { email } = page.words.profile;
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
