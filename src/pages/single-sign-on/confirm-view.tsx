import type { LinkToConfirm } from "../../accounts/accounts.ts";
import { signInPath } from "../../http/authentication.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { PasswordField } from "../parts/fields.tsx";
import { PostForm } from "../parts/post-form.tsx";

export const confirmPath = "/users/auth/oidc/confirm";

export interface ConfirmLinkModel {
  readonly provider: string;
  readonly link: LinkToConfirm;
  /** What is wrong with the password. */
  readonly problem: string | null;
}

/** Field `password`, where one is asked for, is posted to `confirmPath`. */
export function confirmLinkView({ provider: name, link, problem }: ConfirmLinkModel, page: PageContext): Page {
  const { singleSignOn } = page.messages;
  const { providerEmail, accountEmail, by } = link;
  const otherWay = pageHref(page, `${signInPath}?next=${encodeURIComponent(confirmPath)}`);
  return (
    <Layout page={page} title={singleSignOn.confirm} privatePage width="narrow">
      <div class="card">
        <h1>{singleSignOn.confirm}</h1>
        <p class="lead">{singleSignOn.confirmLead({ name, providerEmail, accountEmail })}</p>
        <p>{singleSignOn.confirmWhy({ name })}</p>
        {by === "consent" && <p>{singleSignOn.consent}</p>}
        {by === "sign_in" ? (
          <p>{singleSignOn.signInFirst}</p>
        ) : (
          <PostForm page={page} class="form" action={confirmPath}>
            {by === "password" && (
              <>
                <input type="hidden" autoComplete="username" value={accountEmail} />
                <PasswordField
                  id="password"
                  label={singleSignOn.password}
                  problem={problem ?? undefined}
                  focus={problem !== null}
                />
              </>
            )}
            <button type="submit" class="button button-primary button-large button-wide">
              {singleSignOn.confirmSubmit}
            </button>
          </PostForm>
        )}
        {by !== "consent" && (
          <a class={by === "sign_in" ? "button button-primary" : "button"} href={otherWay}>
            {singleSignOn.signInOtherwise}
          </a>
        )}
      </div>
    </Layout>
  );
}
