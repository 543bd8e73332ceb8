import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { type PageContext, pageHref } from "../page-context.ts";

/** For the account page. @param provider as `providerNameOf` says; null: nothing is shown. */
export function SignOnSection({ page, provider }: { readonly page: PageContext; readonly provider: string | null }) {
  if (provider === null) return null;
  const { singleSignOn } = page.words;
  return (
    <section class="card" aria-labelledby="single-sign-on">
      <h2 class="section-heading" id="single-sign-on">
        {singleSignOn.heading}
      </h2>
      <p>{singleSignOn.lead({ name: provider })}</p>
      <div class="form-end">
        <a class="button" href={pageHref(page, signOnSettingsPath)}>
          {singleSignOn.manage}
        </a>
      </div>
    </section>
  );
}
