import { unreachable } from "../base/errors.ts";
import { signInPath } from "../http/authentication.ts";
import { textOf } from "../http/body/form-fields.ts";
import { adminPaths } from "./admin/frame.tsx";
import { enter, passwordSentence } from "./entry.tsx";
import { FormPage } from "./form-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { Submit } from "./parts/buttons.tsx";
import { CodeField, EmailField, NewPasswordField } from "./parts/fields.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { type FormDeclaration, type FormState, formHandler, refused, untouched } from "./take-form.ts";

export const firstRunPath = "/first_run";

type Field = "boot_code" | "email" | "password";

interface FirstRunModel {
  /** As typed, when the form is sent back; the boot code and the password never are. */
  readonly email: string;
  readonly state: FormState<Field>;
}

const firstRunForm: FormDeclaration<PageRequest, { email: string; bootCode: string; password: string }, Field> = {
  read: (fields) => ({
    email: textOf(fields, "email"),
    bootCode: textOf(fields, "boot_code"),
    password: textOf(fields, "password"),
  }),
  show: (page, { email }, state) =>
    page.renderForm(firstRunView, { email, state }, { status: state.status, path: firstRunPath }),
};

/** `GET /first_run`. Once an account exists, it redirects to the sign-in page. */
export async function showFirstRun(page: PageRequest): Promise<Reply> {
  if (!(await page.services.accounts.isFirstRun())) return page.redirect(signInPath);
  return firstRunForm.show(page, { email: "", bootCode: "", password: "" }, untouched);
}

/** `POST /first_run` */
export const createFirstAdministrator = formHandler(firstRunForm, async (page, typed) => {
  const answer = await page.services.accounts.createFirstAdministrator({ ...typed, client: page.clientContext });
  switch (answer.outcome) {
    case "made":
      // The overview says what to set up next.
      return await enter(page, answer.sessionToken, adminPaths.overview);
    case "over":
      return page.redirect(signInPath);
    case "refused": {
      const { bootCode, email, password } = answer.problems;
      const { problems } = page.messages.entry;
      return refused({
        boot_code: bootCode && problems.bootCode,
        email: email && problems.email,
        password: password && passwordSentence(password, page.messages),
      });
    }
    default:
      return unreachable(answer);
  }
});

/** Fields `boot_code`, `email` and `password`, posted to `/first_run`. */
export function firstRunView({ email, state }: FirstRunModel, page: PageContext): Page {
  const { entry } = page.messages;
  const { fields, firstRun } = entry;
  const { problems } = state;
  return (
    <FormPage
      page={page}
      asksFirstAt={firstRunPath}
      heading={firstRun.heading}
      lead={firstRun.lead}
      state={state}
      isPublic
    >
      <PostForm class="form" action="/first_run">
        <CodeField
          of="letters and digits"
          id="boot_code"
          label={fields.bootCode}
          hint={fields.bootCodeHint}
          problem={problems.boot_code}
          focus
        />
        <EmailField label={fields.email} autoComplete="username" value={email} problem={problems.email} />
        <NewPasswordField id="password" label={fields.password} problem={problems.password} />
        <Submit label={firstRun.submit} look="wide" />
      </PostForm>
    </FormPage>
  );
}
