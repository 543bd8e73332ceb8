import type { FastifyReply } from "fastify";
import type { PasswordProblem } from "../accounts/accounts.ts";
import { textOf } from "../http/body/form-fields.ts";
import { passwordSentence } from "./entry.tsx";
import { Layout } from "./layout.tsx";
import { type Page, type PageContext, pageHref } from "./page.ts";
import { EmailField, NewPasswordField } from "./parts/fields.tsx";
import { MessageCard, Notice, TooManyNotice } from "./parts/notice.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest } from "./request.ts";

export const requestResetPath = "/users/password/new";
export const resetPasswordPath = "/users/password/edit";

/** `GET /users/password/new` */
export function showRequestReset(page: PageRequest): FastifyReply {
  return renderRequestReset(page, 200, { email: "", sent: false, waitSeconds: null });
}

/** `POST /users/password/new` */
export async function requestReset(page: PageRequest): Promise<FastifyReply> {
  const { accounts, config } = page.services;
  const form = await page.form();
  const email = textOf(form, "email");
  if (!config.accounts.emails) return renderRequestReset(page, 403, { email, sent: false, waitSeconds: null });
  try {
    const language = page.messages.locale.tag;
    await accounts.requestReset({ email, language, client: page.clientContext });
    return renderRequestReset(page, 200, { email, sent: true, waitSeconds: null });
  } catch (error) {
    return renderRequestReset(page, 429, { email, sent: false, waitSeconds: page.waitAfter(error) });
  }
}

/** `GET /users/password/edit?reset_password_token=` */
export async function showResetPassword(page: PageRequest): Promise<FastifyReply> {
  const token = page.query("reset_password_token");
  if (token === undefined) return page.redirect(requestResetPath);
  if (!(await page.services.accounts.isResettable(token))) return page.renderPlain(invalidResetView, { status: 404 });
  const selfPath = `${resetPasswordPath}?reset_password_token=${encodeURIComponent(token)}`;
  return page.render(newPasswordView, { token, problem: null }, { selfPath });
}

/** `POST /users/password/edit`. Ends all sessions of the user and starts none: the second factor is still required. */
export async function resetPassword(page: PageRequest): Promise<FastifyReply> {
  const form = await page.form();
  const token = textOf(form, "reset_password_token");
  const password = textOf(form, "password");
  const outcome = await page.services.accounts.resetPassword({ token, password, client: page.clientContext });
  if (outcome === "changed") return page.redirect("/users/sign_in?done=password_changed");
  if (outcome === "invalid_link") return page.renderPlain(invalidResetView, { status: 404 });
  return page.render(newPasswordView, { token, problem: outcome }, { status: 422 });
}

function renderRequestReset(page: PageRequest, status: number, model: RequestResetModel): FastifyReply {
  const options = { status, selfPath: page.isGet ? requestResetPath : null, keepsTyped: page.isGet };
  return page.services.config.accounts.emails
    ? page.render(requestResetView, model, options)
    : page.renderPlain(noResetView, options);
}

interface RequestResetModel {
  readonly email: string;
  /** The form has just been sent. */
  readonly sent: boolean;
  readonly waitSeconds: number | null;
}

/** Field `email`, posted to `/users/password/new`. */
export function requestResetView({ email, sent, waitSeconds }: RequestResetModel, page: PageContext): Page {
  const { recovery } = page.messages.entry;
  return (
    <Layout page={page} title={recovery.heading} width="narrow" asksFirstAt={requestResetPath}>
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

/** Without emails, nobody can prove that an address is theirs. */
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

interface NewPasswordModel {
  readonly token: string;
  readonly problem: PasswordProblem | null;
}

/** Fields `reset_password_token` and `password`, posted to `/users/password/edit`. */
export function newPasswordView({ token, problem }: NewPasswordModel, page: PageContext): Page {
  const { entry } = page.messages;
  const { recovery } = entry;
  return (
    <Layout page={page} title={recovery.newHeading} privatePage width="narrow" asksFirstAt={requestResetPath}>
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

export function invalidResetView(page: PageContext): Page {
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
