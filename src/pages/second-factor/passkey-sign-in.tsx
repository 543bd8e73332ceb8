import { passkeySignInOptionsPath, passkeySignInPath } from "../factors/paths.ts";
import type { PageContext } from "../page.ts";
import { PasskeyButton } from "../parts/buttons.tsx";
import { PostForm } from "../parts/post-form.tsx";

export interface PasskeySignInProps {
  readonly page: PageContext;
  /** A path of this server to go to afterwards, checked. */
  readonly next: string | null;
}

/** For the sign-in page: field `passkey` and `next`, posted to `/users/sign_in/passkey`. Shown where scripts run. */
export function PasskeySignIn({ page, next }: PasskeySignInProps) {
  return (
    <PostForm page={page} action={passkeySignInPath} class="form">
      {next !== null && <input type="hidden" name="next" value={next} />}
      <PasskeyButton
        page={page}
        action="get"
        options={passkeySignInOptionsPath}
        name="passkey"
        label={page.messages.factors.passkeys.signIn}
        wide="secondary"
      />
    </PostForm>
  );
}
