import { signInPath } from "../../http/authentication.ts";
import { FormPage } from "../form-page.tsx";
import { MessagePage } from "../message-page.tsx";
import { type Page, type PageContext, pageHref, usePage } from "../page.ts";
import { Submit } from "../parts/buttons.tsx";
import { EmailField, PasswordField } from "../parts/fields.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Notice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";
import { StaySignedIn } from "../parts/stay-signed-in.tsx";
import { PasskeySignIn } from "../second-factor/passkey-sign-in.tsx";
import { SignOnButton } from "../single-sign-on/button.tsx";
import type { SignInModel } from "./model.ts";

const formId = "sign_in_form";

/**
 * Fields `email`, `password`, `next` and `stay_signed_in`, posted to `/users/sign_in`. The button for single sign-on is part
 * of this form and posts it elsewhere, so that without scripts the box applies to both.
 */
export function signInView(model: SignInModel, page: PageContext): Page {
  const { signIn, entry } = page.messages;
  return (
    <FormPage
      page={page}
      scripts={model.passkeys ? ["passkeys.js"] : []}
      asksFirstAt={signInPath}
      heading={signIn.heading}
      lead={signIn.lead}
    >
      {model.firstRun && (
        <Notice tone="info" icon="key">
          <p>
            {entry.firstRun.invite} <a href={pageHref(page, "/first_run")}>{entry.firstRun.inviteLink}</a>
          </p>
        </Notice>
      )}
      {model.done !== null && (
        <Notice
          tone="success"
          icon="check"
          alert
          text={model.done === "confirmed" ? entry.confirmation.done : entry.recovery.done}
        />
      )}
      <FormNotices state={model.state}>{model.state.status === 401 && <ConfirmFirst {...model} />}</FormNotices>
      <PostForm class="form" id={formId} action="/users/sign_in" next={model.next}>
        <EmailField label={signIn.email} value={model.email} autoComplete="username" focus={model.email === ""} />
        <PasswordField id="password" label={signIn.password} focus={model.email !== ""} />
        <StaySignedIn checked={model.stays} idleSeconds={model.idleSeconds} />
        <Submit label={signIn.submit} look="wide" />
      </PostForm>
      {model.passkeys && <PasskeySignIn next={model.next} stays="as_checked" />}
      <SignOnButton provider={model.provider} form={formId} />
      <ul class="line card-ways">
        <li>
          <a href={pageHref(page, "/users/password/new")}>{entry.recovery.link}</a>
        </li>
        {model.signUps && !model.firstRun && (
          <li>
            <a href={pageHref(page, "/users/sign_up")}>{entry.signUp.heading}</a>
          </li>
        )}
      </ul>
    </FormPage>
  );
}

/** An account whose address is not confirmed is refused like a wrong password. */
function ConfirmFirst({ confirmation }: Pick<SignInModel, "confirmation">) {
  const page = usePage();
  const { entry } = page.messages;
  if (confirmation === null) return null;
  if (confirmation === "by_administrator") return <p>{entry.confirmation.unavailable}</p>;
  return (
    <p>
      {entry.confirmation.first} <a href={pageHref(page, "/users/confirmation/new")}>{entry.signUp.again}</a>
    </p>
  );
}

/** For GET: following a link must not sign anybody out. */
export function signOutView(email: string, page: PageContext): Page {
  const { nav } = page.messages;
  return (
    <MessagePage page={page} icon="hand" heading={nav.signOut} lead={nav.signedInAs({ email })}>
      <PostForm action="/users/sign_out">
        <Submit label={nav.signOut} />
      </PostForm>
    </MessagePage>
  );
}
