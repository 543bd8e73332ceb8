import type { Config } from "../../config/config.ts";
import { pageHref, usePage } from "../page.ts";
import { Label } from "../parts/buttons.tsx";

/** The name of the single sign-on provider; null: single sign-on is not available. */
export function providerNameOf(config: Pick<Config, "singleSignOn" | "accounts">): string | null {
  return config.accounts.loginsDisabled ? null : (config.singleSignOn?.name ?? null);
}

export interface SignOnButtonProps {
  /** See `providerNameOf`; null: nothing is shown. */
  readonly provider: string | null;
  /** The id of a form on the same page. Its fields `next` and `stay_signed_in` are read, all others ignored. */
  readonly form: string;
}

/** For the sign-in page, below its form. */
export function SignOnButton({ provider, form }: SignOnButtonProps) {
  const page = usePage();
  if (provider === null) return null;
  const { singleSignOn } = page.messages;
  return (
    <>
      <p class="or">
        <span>{singleSignOn.or}</span>
      </p>
      <button
        type="submit"
        class="button button-large button-wide"
        form={form}
        formAction={pageHref(page, "/users/auth/oidc")}
        formNoValidate
      >
        <Label icon="hand" text={singleSignOn.continueWith({ name: provider })} />
      </button>
    </>
  );
}
