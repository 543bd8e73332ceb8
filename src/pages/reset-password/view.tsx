import type { PasswordProblem } from "../../accounts/accounts.ts";
import { passwordSentence } from "../entry.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { EmailField, NewPasswordField } from "../parts/fields.tsx";
import { MessageCard, Notice, TooManyNotice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";

export interface AskResetModel {
  readonly email: string;
  /** Whether the form has just been sent. */
  readonly sent: boolean;
  readonly waitSeconds: number | null;
}

/** Field `email`, posted to `/users/password/new`. */
export function askResetView({ email, sent, waitSeconds }: AskResetModel, page: PageContext): Page {
  const { recovery } = page.messages.entry;
  return (
    <Layout page={page} title={recovery.heading} width="narrow">
      <div class="card">
        <h1>{recovery.heading}</h1>
        <p class="lead">{recovery.lead}</p>
        {sent && (
          <Notice tone="success" icon="check" alert>
            <p>{recovery.sent}</p>
          </Notice>
        )}
        <TooManyNotice messages={page.messages} waitSeconds={waitSeconds} />
        <PostForm page={page} class="form" action="/users/password/new">
          <EmailField label={page.messages.entry.fields.email} value={email} autoComplete="username" focus={!sent} />
          <button type="submit" class="button button-primary button-large button-wide">
            {recovery.submit}
          </button>
        </PostForm>
      </div>
    </Layout>
  );
}

/** Where the server sends no mails, nobody can prove that an address is theirs. */
export function noResetView(page: PageContext): Page {
  const { recovery } = page.messages.entry;
  return (
    <Layout page={page} title={recovery.heading} width="narrow">
      <MessageCard icon="key" heading={recovery.heading}>
        <p class="lead">{recovery.noMail}</p>
      </MessageCard>
    </Layout>
  );
}

export interface NewPasswordModel {
  readonly token: string;
  readonly problem: PasswordProblem | null;
}

/** Fields `reset_password_token` and `password`, posted to `/users/password/edit`. */
export function newPasswordView({ token, problem }: NewPasswordModel, page: PageContext): Page {
  const { entry } = page.messages;
  const { recovery } = entry;
  return (
    <Layout page={page} title={recovery.newHeading} privatePage width="narrow">
      <div class="card">
        <h1>{recovery.newHeading}</h1>
        <p class="lead">{recovery.newLead}</p>
        <PostForm page={page} class="form" action="/users/password/edit">
          <input type="hidden" name="reset_password_token" value={token} />
          <NewPasswordField
            messages={page.messages}
            id="password"
            label={entry.fields.newPassword}
            problem={problem === null ? undefined : passwordSentence(problem, page.messages)}
            focus
          />
          <button type="submit" class="button button-primary button-large button-wide">
            {recovery.newSubmit}
          </button>
        </PostForm>
      </div>
    </Layout>
  );
}

export function voidResetView(page: PageContext): Page {
  const { recovery } = page.messages.entry;
  return (
    <Layout page={page} title={recovery.invalidHeading} width="narrow">
      <MessageCard icon="clock" heading={recovery.invalidHeading}>
        <p class="lead">{recovery.invalid}</p>
        <a class="button button-primary" href={pageHref(page, "/users/password/new")}>
          {recovery.another}
        </a>
      </MessageCard>
    </Layout>
  );
}
