import { textOf } from "../http/body/form-fields.ts";
import { emailPage } from "./ask-email.tsx";
import { MessagePage } from "./message-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { ButtonLink, Submit } from "./parts/buttons.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest, Reply } from "./request.ts";

export const confirmationPath = "/users/confirmation";
export const newConfirmationPath = `${confirmationPath}/new`;

/** `GET /users/confirmation?confirmation_token=`. Shows a button, since mail scanners follow links. */
export async function showConfirmation(page: PageRequest): Promise<Reply> {
  const token = page.query("confirmation_token");
  if (token === undefined) return page.redirect(newConfirmationPath);
  if (!(await page.services.accounts.isConfirmable(token))) return renderInvalidLink(page);
  return page.render(confirmView, token, {
    selfPath: `${confirmationPath}?confirmation_token=${encodeURIComponent(token)}`,
  });
}

/** `POST /users/confirmation` */
export async function confirmAccount(page: PageRequest): Promise<Reply> {
  const form = await page.form();
  const userId = await page.services.accounts.confirmAccount(textOf(form, "confirmation_token"));
  if (userId === undefined) return renderInvalidLink(page);
  const isSignedIn = page.user?.id === userId;
  return page.redirect(isSignedIn ? "/users/edit?done=confirmed" : "/users/sign_in?done=confirmed");
}

/** `GET` and `POST /users/confirmation/new` */
export const newConfirmationPage = emailPage({
  path: newConfirmationPath,
  keepsTyped: false,
  texts: ({ entry: { confirmation } }) => ({
    heading: confirmation.againHeading,
    lead: confirmation.againLead,
    sent: confirmation.againSent,
    submit: confirmation.againSubmit,
  }),
  send: ({ services }, to) => services.accounts.requestConfirmation(to),
  renderWithoutMail: (page, status) => {
    const isRequired = page.services.config.accounts.requiresConfirmation;
    return page.renderForm(noConfirmationView, isRequired, { status, path: newConfirmationPath });
  },
});

function renderInvalidLink(page: PageRequest): Reply {
  return page.render(invalidConfirmationView, page.services.config.accounts.emails, { status: 404 });
}

/** The button posts to `/users/confirmation`. */
export function confirmView(token: string, page: PageContext): Page {
  const { confirmation } = page.messages.entry;
  return (
    <MessagePage page={page} icon="shield" heading={confirmation.heading} lead={confirmation.lead}>
      <PostForm class="form" action="/users/confirmation">
        <input type="hidden" name="confirmation_token" value={token} />
        <Submit label={confirmation.submit} look="wide" />
      </PostForm>
    </MessagePage>
  );
}

/** @param forAnybody whether people can request another link without signing in. */
export function invalidConfirmationView(forAnybody: boolean, page: PageContext): Page {
  const { entry, profile } = page.messages;
  const { confirmation } = entry;
  return (
    <MessagePage page={page} icon="clock" heading={confirmation.invalidHeading} lead={confirmation.invalid} isPublic>
      <ButtonLink
        to={forAnybody ? "/users/confirmation/new" : "/users/edit"}
        label={forAnybody ? confirmation.againHeading : profile.heading}
        look="primary"
      />
      <ButtonLink to="/users/sign_in" label={page.messages.signIn.submit} />
    </MessagePage>
  );
}

/** The server sends no emails to accounts. @param isRequired accounts must be confirmed nevertheless, by an administrator. */
export function noConfirmationView(isRequired: boolean, page: PageContext): Page {
  const { confirmation } = page.messages.entry;
  return (
    <MessagePage
      page={page}
      icon="shield"
      heading={confirmation.againHeading}
      lead={isRequired ? confirmation.unavailable : confirmation.noMail}
      isPublic
    >
      <ButtonLink to="/users/sign_in" label={page.messages.signIn.submit} />
    </MessagePage>
  );
}
