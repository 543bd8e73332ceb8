import type { EntryProblems } from "../../accounts/accounts.ts";
import { passwordSentence } from "../entry.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { EmailField, NewPasswordField } from "../parts/fields.tsx";
import { MessageCard, TooManyNotice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { SignUpModel } from "./handler.ts";

/** Fields `email` and `password`, posted to `/users/sign_up`. */
export function signUpView({ email, problems, waitSeconds }: SignUpModel, page: PageContext): Page {
  const { entry, signIn } = page.messages;
  const { fields, signUp } = entry;
  return (
    <Layout page={page} title={signUp.heading} width="narrow">
      <div class="card">
        <h1>{signUp.heading}</h1>
        <p class="lead">{signUp.lead}</p>
        <TooManyNotice messages={page.messages} waitSeconds={waitSeconds} />
        <PostForm page={page} class="form" action="/users/sign_up">
          <EmailField
            label={fields.email}
            autoComplete="username"
            value={email}
            problem={problems.email && emailSentence(problems.email, page)}
            focus={problems.password === undefined || problems.email !== undefined}
          />
          <NewPasswordField
            messages={page.messages}
            id="password"
            label={fields.password}
            problem={problems.password && passwordSentence(problems.password, page.messages)}
            focus={problems.password !== undefined && problems.email === undefined}
          />
          <button type="submit" class="button button-primary button-large button-wide">
            {signUp.submit}
          </button>
        </PostForm>
        <p class="card-aside">
          {signUp.haveAccount} <a href={pageHref(page, "/users/sign_in")}>{signIn.submit}</a>
        </p>
      </div>
    </Layout>
  );
}

function emailSentence(problem: NonNullable<EntryProblems["email"]>, page: PageContext): string {
  const { problems } = page.messages.entry;
  switch (problem) {
    case "malformed":
      return problems.email;
    case "not_allowed":
      return problems.emailNotAllowed;
    case "taken":
      return problems.emailTaken;
  }
}

/** @param email as typed. It is the same page whether the address was free or not. */
export function signUpSentView(email: string, page: PageContext): Page {
  const { signUp } = page.messages.entry;
  return (
    <Layout page={page} title={signUp.sentHeading} width="narrow">
      <MessageCard icon="check" heading={signUp.sentHeading}>
        <p class="lead">
          {signUp.sent.parts({
            email: (
              <strong class="typed" dir="ltr">
                {email}
              </strong>
            ),
          })}
        </p>
        <p>{signUp.sentAdvice}</p>
        <a class="button" href={pageHref(page, "/users/confirmation/new")}>
          {signUp.again}
        </a>
      </MessageCard>
    </Layout>
  );
}
