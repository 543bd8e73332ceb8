import { Layout } from "../layout.tsx";
import { type Page, type PageContext, pageHref } from "../page.ts";
import { EmailField } from "../parts/fields.tsx";
import { MessageCard, Notice, TooManyNotice } from "../parts/notice.tsx";
import { PostForm } from "../parts/post-form.tsx";

/** A press of the button confirms, posted to `/users/confirmation`: programs that read mails follow links. */
export function confirmView(token: string, page: PageContext): Page {
  const { confirmation } = page.messages.entry;
  return (
    <Layout page={page} title={confirmation.heading} privatePage width="narrow">
      <MessageCard icon="shield" heading={confirmation.heading}>
        <p class="lead">{confirmation.lead}</p>
        <PostForm page={page} class="form" action="/users/confirmation">
          <input type="hidden" name="confirmation_token" value={token} />
          <button type="submit" class="button button-primary button-large button-wide">
            {confirmation.submit}
          </button>
        </PostForm>
      </MessageCard>
    </Layout>
  );
}

/** @param forAnybody whether another link can be asked for by whoever has not signed in. */
export function voidConfirmationView(forAnybody: boolean, page: PageContext): Page {
  const { entry, profile } = page.messages;
  const { confirmation } = entry;
  return (
    <Layout page={page} title={confirmation.invalidHeading} width="narrow">
      <MessageCard icon="clock" heading={confirmation.invalidHeading}>
        <p class="lead">{confirmation.invalid}</p>
        <a class="button button-primary" href={pageHref(page, forAnybody ? "/users/confirmation/new" : "/users/edit")}>
          {forAnybody ? confirmation.againHeading : profile.heading}
        </a>
        <a class="button" href={pageHref(page, "/users/sign_in")}>
          {page.messages.signIn.submit}
        </a>
      </MessageCard>
    </Layout>
  );
}

/** Where accounts get no mails, none waits for one before signing in. */
export function noConfirmationView(page: PageContext): Page {
  const { confirmation } = page.messages.entry;
  return (
    <Layout page={page} title={confirmation.againHeading} width="narrow">
      <MessageCard icon="shield" heading={confirmation.againHeading}>
        <p class="lead">{confirmation.noMail}</p>
        <a class="button" href={pageHref(page, "/users/sign_in")}>
          {page.messages.signIn.submit}
        </a>
      </MessageCard>
    </Layout>
  );
}

export interface ConfirmAgainModel {
  readonly email: string;
  /** Whether the form has just been sent. */
  readonly sent: boolean;
  readonly waitSeconds: number | null;
}

/** Field `email`, posted to `/users/confirmation/new`. */
export function confirmAgainView({ email, sent, waitSeconds }: ConfirmAgainModel, page: PageContext): Page {
  const { confirmation } = page.messages.entry;
  return (
    <Layout page={page} title={confirmation.againHeading} width="narrow">
      <div class="card">
        <h1>{confirmation.againHeading}</h1>
        <p class="lead">{confirmation.againLead}</p>
        {sent && (
          <Notice tone="success" icon="check" alert>
            <p>{confirmation.againSent}</p>
          </Notice>
        )}
        <TooManyNotice messages={page.messages} waitSeconds={waitSeconds} />
        <PostForm page={page} class="form" action="/users/confirmation/new">
          <EmailField label={page.messages.entry.fields.email} value={email} autoComplete="username" focus={!sent} />
          <button type="submit" class="button button-primary button-large button-wide">
            {confirmation.againSubmit}
          </button>
        </PostForm>
      </div>
    </Layout>
  );
}
