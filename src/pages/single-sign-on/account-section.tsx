import { signOnSettingsPath } from "../../accounts/accounts.ts";
import { Section } from "../account/section.tsx";
import { type PageContext, pageHref } from "../page.ts";

export const signOnSection = "single_sign_on";

/** For the account page. @param provider as `providerNameOf` says; null: nothing is shown. */
export function SignOnSection({ page, provider }: { readonly page: PageContext; readonly provider: string | null }) {
  if (provider === null) return null;
  const { singleSignOn } = page.messages;
  return (
    <Section name={signOnSection} heading={singleSignOn.heading}>
      <p>{singleSignOn.lead({ name: provider })}</p>
      <div class="form-end">
        <a class="button" href={pageHref(page, signOnSettingsPath)}>
          {singleSignOn.manage}
        </a>
      </div>
    </Section>
  );
}
