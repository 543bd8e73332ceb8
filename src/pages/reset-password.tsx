import { signInPath } from "../http/authentication.ts";
import { textOf } from "../http/body/form-fields.ts";
import { emailPage } from "./ask-email.tsx";
import { passwordSentence } from "./entry.tsx";
import { FormPage } from "./form-page.tsx";
import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { ButtonLink, Submit } from "./parts/buttons.tsx";
import { NewPasswordField } from "./parts/fields.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "./take-form.ts";

export const requestResetPath = "/users/password/new";
export const resetPasswordPath = "/users/password/edit";

/** `GET` and `POST /users/password/new` */
export const requestResetPage = emailPage({
  path: requestResetPath,
  keepsTyped: true,
  texts: ({ entry }) => entry.recovery,
  send: ({ services }, to) => services.accounts.requestReset(to),
  renderWithoutMail: (page, status) =>
    page.renderPlain(noResetView, { status, selfPath: page.isGet ? requestResetPath : null, keepsTyped: page.isGet }),
});

/** `GET /users/password/edit?reset_password_token=` */
export async function showResetPassword(page: PageRequest): Promise<Reply> {
  const token = page.query("reset_password_token");
  if (token === undefined) return page.redirect(requestResetPath);
  if (!(await page.services.accounts.isResettable(token))) return page.renderPlain(invalidResetView, { status: 404 });
  return newPasswordForm.show(page, { token, password: "" }, untouched);
}

const newPasswordForm: FormDeclaration<PageRequest, { token: string; password: string }, "password"> = {
  read: (fields) => ({ token: textOf(fields, "reset_password_token"), password: textOf(fields, "password") }),
  show: (page, { token }, state) => {
    const path = `${resetPasswordPath}?reset_password_token=${encodeURIComponent(token)}`;
    return page.renderForm(newPasswordView, { token, state }, { status: state.status, path });
  },
};

/** `POST /users/password/edit`. Ends all sessions of the user and starts none: the second factor is still required. */
export const resetPassword = formHandler(newPasswordForm, async (page, typed) => {
  const outcome = await page.services.accounts.resetPassword({ ...typed, client: page.clientContext });
  if (outcome === "changed") return page.redirect("/users/sign_in?done=password_changed");
  if (outcome === "invalid_link") return page.renderPlain(invalidResetView, { status: 404 });
  return refused({ password: passwordSentence(outcome, page.messages) });
});

/** Without emails, nobody can prove that an address is theirs. */
export function noResetView(page: PageContext): Page {
  const { entry, nav } = page.messages;
  return (
    <MessagePage page={page} icon="key" heading={entry.recovery.heading} lead={entry.recovery.noMail} isPublic>
      <ButtonLink to={signInPath} label={nav.signIn} />
    </MessagePage>
  );
}

interface NewPasswordModel {
  readonly token: string;
  readonly state: FormState<"password">;
}

/** Fields `reset_password_token` and `password`, posted to `/users/password/edit`. */
export function newPasswordView({ token, state }: NewPasswordModel, page: PageContext): Page {
  const { entry } = page.messages;
  const { recovery } = entry;
  return (
    <FormPage
      page={page}
      asksFirstAt={requestResetPath}
      heading={recovery.newHeading}
      lead={recovery.newLead}
      state={state}
    >
      <PostForm class="form" action="/users/password/edit">
        <input type="hidden" name="reset_password_token" value={token} />
        <NewPasswordField id="password" label={entry.fields.newPassword} problem={state.problems.password} focus />
        <Submit label={recovery.newSubmit} look="wide" />
      </PostForm>
    </FormPage>
  );
}

export function invalidResetView(page: PageContext): Page {
  const { recovery } = page.messages.entry;
  return (
    <MessagePage page={page} icon="clock" heading={recovery.invalidHeading} lead={recovery.invalid} isPublic>
      <ButtonLink to="/users/password/new" label={recovery.another} look="primary" />
    </MessagePage>
  );
}
