import type { ClientContext } from "../accounts/accounts.ts";
import { textOf } from "../http/body/form-fields.ts";
import type { Messages } from "../i18n/i18n.ts";
import { FormPage } from "./form-page.tsx";
import type { Page, PageContext } from "./page.ts";
import { Submit } from "./parts/buttons.tsx";
import { EmailField } from "./parts/fields.tsx";
import { FormNotices } from "./parts/form-messages.tsx";
import { Notice } from "./parts/notice.tsx";
import { PostForm } from "./parts/post-form.tsx";
import type { PageRequest, Reply } from "./request.ts";
import { type FormDeclaration, type FormState, takeForm, untouched } from "./take-form.ts";

interface EmailPage {
  readonly path: string;
  /** The browser keeps the page with what was typed, and asks before it leaves it. */
  readonly keepsTyped: boolean;
  readonly texts: (messages: Messages) => Readonly<Record<"heading" | "lead" | "sent" | "submit", string>>;
  /** Mails a link if an account has the address. @throws AppError too_many_requests, unavailable. */
  readonly send: (
    page: PageRequest,
    to: { readonly email: string; readonly language: string; readonly client: ClientContext },
  ) => Promise<void>;
  /** The page of a server that sends no emails to accounts. */
  readonly renderWithoutMail: (page: PageRequest, status: number) => Reply;
}

/** A page that asks for an email address and mails a link to it. It does not reveal whether an account has the address. */
export function emailPage(declared: EmailPage) {
  const { path, keepsTyped, renderWithoutMail, send } = declared;
  const render = (page: PageRequest, email: string, sent: boolean, state: FormState) => {
    if (!page.services.config.accounts.emails) return renderWithoutMail(page, page.isGet ? 200 : 403);
    const model = { ...declared, email, sent, state };
    return page.renderForm(askEmailView, model, { status: state.status, path, keepsTyped });
  };
  const form: FormDeclaration<PageRequest, string, never> = {
    read: (fields) => textOf(fields, "email"),
    show: (page, email, state) => render(page, email, false, state),
  };
  return {
    declared,
    show: (page: PageRequest): Reply => render(page, "", false, untouched),
    take: (page: PageRequest): Promise<Reply> =>
      takeForm(page, form, async (email) => {
        if (page.services.config.accounts.emails) {
          await send(page, { email, language: page.messages.locale.tag, client: page.clientContext });
        }
        return render(page, email, true, untouched);
      }),
  };
}

interface AskEmailModel extends Pick<EmailPage, "path" | "keepsTyped" | "texts"> {
  readonly email: string;
  /** The form has just been sent. */
  readonly sent: boolean;
  readonly state: FormState;
}

/** Field `email`, posted to its own path. */
export function askEmailView({ path, keepsTyped, texts, email, sent, state }: AskEmailModel, page: PageContext): Page {
  const text = texts(page.messages);
  return (
    <FormPage page={page} asksFirstAt={keepsTyped ? path : undefined} heading={text.heading} lead={text.lead} isPublic>
      {sent && <Notice tone="success" icon="check" alert text={text.sent} />}
      <FormNotices state={state} />
      <PostForm class="form" action={path}>
        <EmailField label={page.messages.entry.fields.email} value={email} autoComplete="username" focus={!sent} />
        <Submit label={text.submit} look="wide" />
      </PostForm>
    </FormPage>
  );
}
