import { textOf } from "../http/body/form-fields.ts";
import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { ButtonLink, Submit } from "./parts/buttons.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest, Reply } from "./request.ts";

/*
 * Confirming a new email address needs no session: the link may be opened in another browser, and having the link proves
 * access to the mailbox. The page repeats the token only in its form, so it has no selfPath.
 */

/** `GET /users/confirmation/new_email?token=`. Shows a button, since mail scanners follow links. */
export async function showEmailConfirmation(page: PageRequest): Promise<Reply> {
  const token = page.query("token") ?? "";
  const email = await page.services.accounts.findNewEmail(token);
  if (email === undefined) return page.render(emailConfirmationView, { is: "invalid" }, { status: 404 });
  return page.render(emailConfirmationView, { is: "asked", email, token });
}

/** `POST /users/confirmation/new_email` */
export async function confirmNewEmail(page: PageRequest): Promise<Reply> {
  const form = await page.form();
  const outcome = await page.services.accounts.confirmNewEmail(textOf(form, "token"), page.clientContext);
  if (outcome === "changed") return page.redirect(emailConfirmedPath);
  return page.render(emailConfirmationView, { is: outcome }, { status: outcome === "taken" ? 409 : 404 });
}

/** `GET /users/confirmation/new_email/done` */
export function showEmailConfirmed(page: PageRequest): Reply {
  return page.render(emailConfirmationView, { is: "changed" }, { selfPath: emailConfirmedPath });
}

export const newEmailPath = "/users/confirmation/new_email";
export const emailConfirmedPath = `${newEmailPath}/done`;

type EmailConfirmation =
  | { readonly is: "asked"; readonly email: string; readonly token: string }
  | { readonly is: "changed" | "invalid" | "taken" };

/** Field `token`, posted to its own path. */
export function emailConfirmationView(shown: EmailConfirmation, page: PageContext): Page {
  const { profile, nav, signIn } = page.messages;
  const { newEmail } = profile;
  if (shown.is === "asked") {
    return (
      <MessagePage page={page} title={newEmail.title} icon="shield" heading={newEmail.heading}>
        <p>{newEmail.text.parts({ email: <strong dir="ltr">{shown.email}</strong> })}</p>
        <PostForm class="form" action={newEmailPath}>
          <input type="hidden" name="token" value={shown.token} />
          <Submit label={newEmail.submit} look="wide" />
        </PostForm>
      </MessagePage>
    );
  }
  const signedIn = page.user !== null;
  const outcomes = {
    changed: { icon: "check", heading: newEmail.changed, text: newEmail.changedText },
    invalid: { icon: "alert", heading: newEmail.invalid, text: newEmail.invalidText },
    taken: { icon: "alert", heading: newEmail.invalid, text: newEmail.taken },
  } as const;
  const { icon, heading, text } = outcomes[shown.is];
  return (
    <MessagePage page={page} title={newEmail.title} icon={icon} heading={heading}>
      <p>{text}</p>
      <ButtonLink to={signedIn ? "/users/edit" : "/users/sign_in"} label={signedIn ? nav.account : signIn.heading} />
    </MessagePage>
  );
}
