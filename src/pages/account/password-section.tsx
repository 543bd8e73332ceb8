import { NewPasswordField, PasswordField } from "../parts/fields.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { accountPath } from "./model.ts";
import { Section } from "./section.tsx";
import type { AccountProps } from "./view.tsx";

export function PasswordSection({ model, page }: AccountProps) {
  const { password } = page.messages.profile;
  return (
    <Section name="password" heading={password.heading}>
      <p>{model.hasPassword ? password.lead : password.firstLead}</p>
      <PostForm page={page} class="form" action={`${accountPath}/password`}>
        {/* For password managers, which keep a password under its user name. */}
        <input type="text" name="username" value={model.email} autoComplete="username" hidden readOnly />
        {model.hasPassword && (
          <PasswordField id="current_password" label={password.current} problem={model.problems.current_password} />
        )}
        <NewPasswordField
          messages={page.messages}
          id="new_password"
          label={password.new}
          problem={model.problems.new_password}
        />
        <div class="form-end">
          <button type="submit" class="button button-primary">
            {model.hasPassword ? password.submit : password.submitFirst}
          </button>
        </div>
      </PostForm>
    </Section>
  );
}
