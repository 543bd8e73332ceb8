import type { FastifyReply } from "fastify";
import type { FirstRunProblems } from "../accounts/accounts.ts";
import { unreachable } from "../base/errors.ts";
import { signInPath } from "../http/authentication.ts";
import { textOf } from "../http/body/form-fields.ts";
import { adminPaths } from "./admin/frame.tsx";
import { enter, passwordSentence } from "./entry.tsx";
import { Layout } from "./layout.tsx";
import type { Page, PageContext } from "./page.ts";
import { CodeField, EmailField, NewPasswordField } from "./parts/fields.tsx";
import { TooManyNotice } from "./parts/notice.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest } from "./request.ts";

export const firstRunPath = "/first_run";

interface FirstRunModel {
  /** As typed, when the form is sent back; the boot code and the password never are. */
  readonly email: string;
  readonly problems: FirstRunProblems;
  /** After too many attempts: how long to wait; else null. */
  readonly waitSeconds: number | null;
}

/** `GET /first_run`. Once an account exists, it redirects to the sign-in page. */
export async function showFirstRun(page: PageRequest): Promise<FastifyReply> {
  if (!(await page.services.accounts.isFirstRun())) return page.redirect(signInPath);
  return page.render(firstRunView, { email: "", problems: {}, waitSeconds: null }, { selfPath: firstRunPath });
}

/** `POST /first_run` */
export async function createFirstAdministrator(page: PageRequest): Promise<FastifyReply> {
  const form = await page.form();
  const email = textOf(form, "email");
  try {
    const answer = await page.services.accounts.createFirstAdministrator({
      email,
      bootCode: textOf(form, "boot_code"),
      password: textOf(form, "password"),
      client: page.clientContext,
    });
    switch (answer.outcome) {
      case "made":
        // The overview says what to set up next.
        return await enter(page, answer.sessionToken, adminPaths.overview);
      case "over":
        return page.redirect(signInPath);
      case "refused":
        return page.render(firstRunView, { email, problems: answer.problems, waitSeconds: null }, { status: 422 });
      default:
        return unreachable(answer);
    }
  } catch (error) {
    return page.render(firstRunView, { email, problems: {}, waitSeconds: page.waitAfter(error) }, { status: 429 });
  }
}

/** Fields `boot_code`, `email` and `password`, posted to `/first_run`. */
export function firstRunView({ email, problems, waitSeconds }: FirstRunModel, page: PageContext): Page {
  const { entry } = page.messages;
  const { fields, firstRun } = entry;
  return (
    <Layout page={page} title={firstRun.heading} width="narrow" asksFirstAt={firstRunPath}>
      <div class="card">
        <h1>{firstRun.heading}</h1>
        <p class="lead">{firstRun.lead}</p>
        <TooManyNotice messages={page.messages} waitSeconds={waitSeconds} />
        <PostForm page={page} class="form" action="/first_run">
          <CodeField
            of="letters and digits"
            id="boot_code"
            label={fields.bootCode}
            hint={fields.bootCodeHint}
            problem={problems.bootCode === undefined ? undefined : entry.problems.bootCode}
            focus
          />
          <EmailField
            label={fields.email}
            autoComplete="username"
            value={email}
            problem={problems.email === undefined ? undefined : entry.problems.email}
          />
          <NewPasswordField
            messages={page.messages}
            id="password"
            label={fields.password}
            problem={problems.password && passwordSentence(problems.password, page.messages)}
          />
          <button type="submit" class="button button-primary button-large button-wide">
            {firstRun.submit}
          </button>
        </PostForm>
      </div>
    </Layout>
  );
}
