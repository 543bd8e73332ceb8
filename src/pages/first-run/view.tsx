import { passwordSentence } from "../entry.ts";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page-context.ts";
import { EmailField, NewPasswordField, TooManyNotice } from "../parts/entry-fields.tsx";
import { Field } from "../parts/field.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Page } from "../render.ts";
import type { FirstRunModel } from "./handler.ts";

/** Fields `boot_code`, `email` and `password`, posted to `/first_run`. */
export function firstRunView({ email, problems, waitSeconds }: FirstRunModel, page: PageContext): Page {
  const { entry } = page.words;
  const { fields, firstRun } = entry;
  return (
    <Layout page={page} title={firstRun.heading} width="narrow">
      <div class="card">
        <h1>{firstRun.heading}</h1>
        <p class="lead">{firstRun.lead}</p>
        <TooManyNotice page={page} waitSeconds={waitSeconds} />
        <PostForm page={page} class="form" action="/first_run">
          <Field
            id="boot_code"
            label={fields.bootCode}
            hint={fields.bootCodeHint}
            problem={problems.bootCode === undefined ? undefined : entry.problems.bootCode}
            control={(attributes) => (
              <input
                {...attributes}
                class="input input-code"
                type="text"
                name="boot_code"
                dir="ltr"
                required
                autoComplete="off"
                autoCapitalize="none"
                spellcheck={false}
                data-focus
              />
            )}
          />
          <EmailField
            page={page}
            value={email}
            problem={problems.email === undefined ? undefined : entry.problems.email}
            focus={false}
          />
          <NewPasswordField
            page={page}
            label={fields.password}
            problem={problems.password && passwordSentence(problems.password, page.words)}
            focus={false}
          />
          <button type="submit" class="button button-primary button-large button-wide">
            {firstRun.submit}
          </button>
        </PostForm>
      </div>
    </Layout>
  );
}
