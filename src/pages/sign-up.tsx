import { unreachable } from "../base/errors.ts";
import { textOf } from "../http/body/form-fields.ts";
import { enter, passwordSentence, renderClosed } from "./entry.tsx";
import { firstRunPath } from "./first-run.tsx";
import { FormPage } from "./form-page.tsx";
import { MessagePage } from "./message-page.tsx";
import { type Page, type PageContext, pageHref } from "./page.ts";
import { ButtonLink, Submit } from "./parts/buttons.tsx";
import { EmailField, NewPasswordField } from "./parts/fields.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "./take-form.ts";

export const signUpPath = "/users/sign_up";

type State = FormState<"email" | "password">;

interface SignUpModel {
  /** As typed, when the form is sent back; the password never is. */
  readonly email: string;
  readonly state: State;
  /** This server creates file pushes. */
  readonly takesFiles: boolean;
}

const signUpForm: FormDeclaration<PageRequest, { email: string; password: string }, "email" | "password"> = {
  read: (fields) => ({ email: textOf(fields, "email"), password: textOf(fields, "password") }),
  show: (page, { email }, state) => {
    const takesFiles = page.services.config.kinds.file.enabled;
    const { status } = state;
    return page.renderForm(signUpView, { email, state, takesFiles }, { status, path: signUpPath, keepsTyped: true });
  },
};

/** `GET /users/sign_up`. The first account is created at `/first_run` instead, with the boot code. */
export async function showSignUp(page: PageRequest): Promise<Reply> {
  if (page.user !== null) return page.redirect("/");
  if (await page.services.accounts.isFirstRun()) return page.redirect(firstRunPath);
  if (page.services.accounts.signUpNeedsMail()) return renderClosed(page, "sign-up without mail");
  return signUpForm.show(page, { email: "", password: "" }, untouched);
}

/** `POST /users/sign_up` */
export const signUp = formHandler(signUpForm, async (page, typed) => {
  const given = { ...typed, language: page.messages.locale.tag, client: page.clientContext };
  const answer = await page.services.accounts.signUp(given);
  switch (answer.outcome) {
    case "signed_in":
      return await enter(page, answer.sessionToken, "/");
    case "mail_sent":
      return page.render(signUpSentView, typed.email.trim());
    case "first_run":
      return page.redirect(firstRunPath);
    case "mail_unavailable":
      return renderClosed(page, "sign-up without mail");
    case "refused": {
      const { email, password } = answer.problems;
      const { problems } = page.messages.entry;
      const sentences: Readonly<Record<NonNullable<typeof email>, string>> = {
        malformed: problems.email,
        not_allowed: problems.emailNotAllowed,
        taken: problems.emailTaken,
      };
      return refused({
        email: email && sentences[email],
        password: password && passwordSentence(password, page.messages),
      });
    }
    default:
      return unreachable(answer);
  }
});

/** Fields `email` and `password`, posted to `/users/sign_up`. */
export function signUpView({ email, state, takesFiles }: SignUpModel, page: PageContext): Page {
  const { entry, signIn } = page.messages;
  const { problems } = state;
  const { fields, signUp } = entry;
  return (
    <FormPage
      page={page}
      asksFirstAt={signUpPath}
      heading={signUp.heading}
      lead={takesFiles ? signUp.lead : signUp.leadWithoutFiles}
      state={state}
      isPublic
    >
      <PostForm class="form" action="/users/sign_up">
        <EmailField
          label={fields.email}
          autoComplete="username"
          value={email}
          problem={problems.email}
          focus={problems.password === undefined || problems.email !== undefined}
        />
        <NewPasswordField
          id="password"
          label={fields.password}
          problem={problems.password}
          focus={problems.password !== undefined && problems.email === undefined}
        />
        <Submit label={signUp.submit} look="wide" />
      </PostForm>
      <p class="card-aside">
        {signUp.haveAccount} <a href={pageHref(page, "/users/sign_in")}>{signIn.submit}</a>
      </p>
    </FormPage>
  );
}

/** @param email as typed. The page does not reveal whether the address already has an account. */
export function signUpSentView(email: string, page: PageContext): Page {
  const { signUp } = page.messages.entry;
  return (
    <MessagePage
      page={page}
      icon="check"
      heading={signUp.sentHeading}
      lead={signUp.sent.parts({
        email: <strong dir="ltr">{email}</strong>,
      })}
      isPublic
    >
      <p>{signUp.sentAdvice}</p>
      <ButtonLink to="/users/confirmation/new" label={signUp.again} />
    </MessagePage>
  );
}
