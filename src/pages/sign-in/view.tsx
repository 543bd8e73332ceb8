import { Layout } from "../layout.tsx";
import type { PageContext } from "../page-context.ts";
import { Field } from "../parts/field.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import type { Page } from "../render.ts";
import { SignOnButton } from "../single-sign-on/button.tsx";

export interface SignInModel {
  /** The provider of single sign-on, as `providerNameOf` says. */
  readonly provider: string | null;
  readonly email: string;
  /** A path of this server to go to afterwards; the handler has checked that it is one. */
  readonly next: string | null;
  readonly refusal:
    | { readonly reason: "wrong" }
    | { readonly reason: "too_many"; readonly retryAfterSeconds: number }
    | null;
}

/** Fields `email`, `password` and `next`, posted to `/users/sign_in`. */
export function signInView(model: SignInModel, page: PageContext): Page {
  const { signIn, problems } = page.words;
  return (
    <Layout page={page} title={signIn.heading} width="narrow">
      <div class="card">
        <h1>{signIn.heading}</h1>
        <p class="lead">{signIn.lead}</p>
        {model.refusal !== null && (
          <Notice tone="danger" icon="alert" alert>
            <p>
              {model.refusal.reason === "wrong"
                ? signIn.wrong
                : problems.tooManyAttempts({ count: model.refusal.retryAfterSeconds })}
            </p>
          </Notice>
        )}
        <PostForm page={page} class="form" action="/users/sign_in">
          {model.next !== null && <input type="hidden" name="next" value={model.next} />}
          <Field
            id="email"
            label={signIn.email}
            control={(attributes) => (
              <input
                {...attributes}
                class="input"
                type="email"
                name="email"
                value={model.email}
                dir="ltr"
                required
                autoComplete="username"
                data-focus={model.email === "" ? true : undefined}
              />
            )}
          />
          <Field
            id="password"
            label={signIn.password}
            control={(attributes) => (
              <input
                {...attributes}
                class="input"
                type="password"
                name="password"
                required
                autoComplete="current-password"
                data-focus={model.email === "" ? undefined : true}
              />
            )}
          />
          <button type="submit" class="button button-primary button-large button-wide">
            {signIn.submit}
          </button>
        </PostForm>
        <SignOnButton page={page} provider={model.provider} next={model.next} />
      </div>
    </Layout>
  );
}
