import { AppError } from "../../base/errors.ts";
import { signInPath } from "../../http/authentication.ts";
import { textOf } from "../../http/body/form-fields.ts";
import { sendJson } from "../../http/headers.ts";
import { enter } from "../entry.tsx";
import { getRelyingParty, passkeyAnswerOf } from "../factors/changes.ts";
import { passkeySignInOptionsPath, passkeySignInPath } from "../factors/paths.ts";
import { MessagePage } from "../message-page.tsx";
import { type Page, type PageContext, pageHref, useMessages } from "../page.ts";
import { PasskeyButton } from "../parts/buttons.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { stayField, staysSignedIn } from "../parts/stay-signed-in.tsx";
import type { PageRequest, Reply } from "../request.ts";
import { ownPath, withNext } from "../return-path.ts";

/** `POST /users/sign_in/passkey/options` */
export async function offerPasskeySignIn(page: PageRequest): Promise<Reply> {
  refuseWithoutLogins(page);
  return sendJson(page.reply, 200, await page.services.accounts.offerAnyPasskey(getRelyingParty(page)));
}

/** `POST /users/sign_in/passkey`: signs in by a passkey alone. */
export async function signInByPasskey(page: PageRequest): Promise<Reply> {
  refuseWithoutLogins(page);
  const { accounts } = page.services;
  const form = await page.form();
  const next = ownPath(textOf(form, "next"));
  const stays = staysSignedIn(form);
  const passkey = passkeyAnswerOf(page, form, "passkey");
  const signedIn = passkey === null ? undefined : await accounts.signInByPasskey(passkey, page.clientContext, stays);
  if (signedIn === undefined) return page.render(passkeyRefusedView, { next, stays }, { status: 401 });
  return enter(page, signedIn.sessionToken, next ?? "/");
}

function refuseWithoutLogins(page: PageRequest): void {
  if (page.services.config.accounts.loginsDisabled)
    throw new AppError("forbidden", "Sign-in is turned off on this server.");
}

interface PasskeySignInProps {
  /** The path of this server to go to afterwards, as `ownPath` returned it. */
  readonly next: string | null;
  /** The box to stay signed in was checked before. "as_checked": it is on this page, in another form. */
  readonly stays: boolean | "as_checked";
}

/** For the sign-in page: fields `passkey`, `next` and `stay_signed_in`, posted to `/users/sign_in/passkey`. Hidden without scripts. */
export function PasskeySignIn({ next, stays }: PasskeySignInProps) {
  const messages = useMessages();
  return (
    <PostForm action={passkeySignInPath} class="form" next={next}>
      {stays === true && <input type="hidden" name={stayField} value="1" />}
      <PasskeyButton
        action="get"
        options={passkeySignInOptionsPath}
        name="passkey"
        label={messages.factors.passkeys.signIn}
        look="alternative"
        copies={stays === "as_checked" ? stayField : undefined}
      />
    </PostForm>
  );
}

interface PasskeyRefusedModel {
  readonly next: string | null;
  readonly stays: boolean;
}

function passkeyRefusedView({ next, stays }: PasskeyRefusedModel, page: PageContext): Page {
  const { factors, signIn } = page.messages;
  return (
    <MessagePage page={page} scripts={["passkeys.js"]} icon="key" heading={signIn.heading} isPublic>
      <p role="alert">{factors.passkeys.signInWrong}</p>
      <PasskeySignIn next={next} stays={stays} />
      <a href={pageHref(page, withNext(signInPath, next))}>{factors.passkeys.otherWay}</a>
    </MessagePage>
  );
}
