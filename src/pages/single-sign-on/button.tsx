import type { Config } from "../../config/config.ts";
import type { PageContext } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { PostForm } from "../parts/post-form.tsx";

/** The name of the single sign-on provider; null: single sign-on is not available. */
export function providerNameOf(config: Pick<Config, "singleSignOn" | "accounts">): string | null {
  return config.accounts.loginsDisabled ? null : (config.singleSignOn?.name ?? null);
}

export interface SignOnButtonProps {
  readonly page: PageContext;
  /** See `providerNameOf`; null: nothing is shown. */
  readonly provider: string | null;
  /** The path of this server to go to afterwards. */
  readonly next: string | null;
}

/** For the sign-in page, below its form. */
export function SignOnButton({ page, provider, next }: SignOnButtonProps) {
  if (provider === null) return null;
  const { singleSignOn } = page.messages;
  return (
    <>
      <p class="or">
        <span>{singleSignOn.or}</span>
      </p>
      <PostForm page={page} action="/users/auth/oidc">
        {next !== null && <input type="hidden" name="next" value={next} />}
        <button type="submit" class="button button-large button-wide">
          <Icon name="hand" />
          <span>{singleSignOn.continueWith({ name: provider })}</span>
        </button>
      </PostForm>
    </>
  );
}
