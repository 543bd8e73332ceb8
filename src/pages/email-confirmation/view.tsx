import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { MessageCard } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";

export const confirmationPath = "/users/confirmation/new_email";

export type EmailConfirmation =
  | { readonly is: "asked"; readonly email: string; readonly token: string }
  | { readonly is: "changed" | "invalid" | "taken" };

/** Field `token`, posted to its own path. */
export function emailConfirmationView(shown: EmailConfirmation, page: PageContext): Page {
  const { newEmail } = page.messages.profile;
  return (
    <Layout page={page} title={newEmail.title} width="narrow" privatePage>
      {shown.is === "asked" ? (
        <MessageCard icon="shield" heading={newEmail.heading}>
          <p class="account-email">{newEmail.text.parts({ email: <strong dir="ltr">{shown.email}</strong> })}</p>
          <PostForm page={page} class="form" action={confirmationPath}>
            <input type="hidden" name="token" value={shown.token} />
            <button type="submit" class="button button-primary button-large button-wide">
              {newEmail.submit}
            </button>
          </PostForm>
        </MessageCard>
      ) : (
        <Outcome is={shown.is} page={page} />
      )}
    </Layout>
  );
}

function Outcome({ is, page }: { readonly is: "changed" | "invalid" | "taken"; readonly page: PageContext }) {
  const { profile, nav, signIn } = page.messages;
  const { newEmail } = profile;
  const changed = is === "changed";
  const signedIn = page.user !== null;
  return (
    <MessageCard icon={changed ? "check" : "alert"} heading={changed ? newEmail.changed : newEmail.invalid}>
      <p>{changed ? newEmail.changedText : is === "taken" ? newEmail.taken : newEmail.invalidText}</p>
      <a class="button" href={pageHref(page, signedIn ? "/users/edit" : "/users/sign_in")}>
        {signedIn ? nav.account : signIn.heading}
      </a>
    </MessageCard>
  );
}
