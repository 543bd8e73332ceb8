import type { FastifyReply } from "fastify";
import type { EntryProblems } from "../accounts/accounts.ts";
import { unreachable } from "../base/errors.ts";
import { textOf } from "../http/body/form-fields.ts";
import { enter, passwordSentence, renderClosed } from "./entry.tsx";
import { firstRunPath } from "./first-run.tsx";
import { Layout } from "./layout.tsx";
import { type Page, type PageContext, pageHref } from "./page.ts";
import { EmailField, NewPasswordField } from "./parts/fields.tsx";
import { MessageCard, TooManyNotice } from "./parts/notice.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest } from "./request.ts";

export const signUpPath = "/users/sign_up";

interface SignUpModel {
  /** As typed, when the form is sent back; the password never is. */
  readonly email: string;
  readonly problems: EntryProblems;
  /** After too many attempts: how long to wait; else null. */
  readonly waitSeconds: number | null;
  /** This server creates file pushes. */
  readonly takesFiles: boolean;
}

/** `GET /users/sign_up`. The first account is created at `/first_run` instead, with the boot code. */
export async function showSignUp(page: PageRequest): Promise<FastifyReply> {
  if (page.user !== null) return page.redirect("/");
  if (await page.services.accounts.isFirstRun()) return page.redirect(firstRunPath);
  if (page.services.accounts.signUpNeedsMail()) return renderClosed(page, "sign-up without mail");
  return renderSignUp(page, { email: "", problems: {}, waitSeconds: null }, { selfPath: signUpPath, keepsTyped: true });
}

/** `POST /users/sign_up` */
export async function signUp(page: PageRequest): Promise<FastifyReply> {
  const form = await page.form();
  const email = textOf(form, "email");
  try {
    const answer = await page.services.accounts.signUp({
      email,
      password: textOf(form, "password"),
      language: page.messages.locale.tag,
      client: page.clientContext,
    });
    switch (answer.outcome) {
      case "signed_in":
        return await enter(page, answer.sessionToken, "/");
      case "mail_sent":
        return page.render(signUpSentView, email.trim());
      case "first_run":
        return page.redirect(firstRunPath);
      case "mail_unavailable":
        return renderClosed(page, "sign-up without mail");
      case "refused":
        return renderSignUp(page, { email, problems: answer.problems, waitSeconds: null }, { status: 422 });
      default:
        return unreachable(answer);
    }
  } catch (error) {
    return renderSignUp(page, { email, problems: {}, waitSeconds: page.waitAfter(error) }, { status: 429 });
  }
}

function renderSignUp(
  page: PageRequest,
  shown: Omit<SignUpModel, "takesFiles">,
  options: Parameters<PageRequest["render"]>[2],
): FastifyReply {
  return page.render(signUpView, { ...shown, takesFiles: page.services.config.kinds.file.enabled }, options);
}

/** Fields `email` and `password`, posted to `/users/sign_up`. */
export function signUpView({ email, problems, waitSeconds, takesFiles }: SignUpModel, page: PageContext): Page {
  const { entry, signIn } = page.messages;
  const { fields, signUp } = entry;
  return (
    <Layout page={page} title={signUp.heading} width="narrow" asksFirstAt={signUpPath}>
      <div class="card">
        <h1>{signUp.heading}</h1>
        <p class="lead">{takesFiles ? signUp.lead : signUp.leadWithoutFiles}</p>
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

/** @param email as typed. The page does not reveal whether the address already has an account. */
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
