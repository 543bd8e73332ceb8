import { passwordSentence } from "../entry.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { CodeField, EmailField, NewPasswordField } from "../parts/fields.tsx";
import { TooManyNotice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { FirstRunModel } from "./handler.ts";

/** Fields `boot_code`, `email` and `password`, posted to `/first_run`. */
export function firstRunView({ email, problems, waitSeconds }: FirstRunModel, page: PageContext): Page {
  const { entry } = page.messages;
  const { fields, firstRun } = entry;
  return (
    <Layout page={page} title={firstRun.heading} width="narrow">
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
