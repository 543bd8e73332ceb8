import { languages, type Messages } from "../../i18n/i18n.ts";
import { accountPath } from "../account/model.ts";
import { type PageContext, pageHref } from "../page.ts";
import { Checkbox } from "../parts/field.tsx";
import { InputField, SelectField } from "../parts/input-fields.tsx";
import type { NewPushLimits, NewPushModel } from "./model.ts";

export interface ByMailProps {
  readonly model: Pick<NewPushModel, "values" | "problems" | "limits" | "mails">;
  readonly page: PageContext;
}

/** What of a push can go by mail: its link to others, and word of its views to its owner. */
export function ByMail({ model, page }: ByMailProps) {
  const { mails, values, problems, limits } = model;
  const { messages } = page;
  const { notices } = messages;
  if (!mails.links && mails.viewsTo === null && !mails.viewsAfterConfirmation) return null;
  return (
    <fieldset class="group">
      <legend>{notices.legend}</legend>
      {mails.links && (
        <>
          <RecipientsField
            {...{ messages, limits, label: notices.to, name: "push[notify_emails_to]" }}
            value={values.notifyEmailsTo}
            problem={problems.notifyEmailsTo}
          />
          <MailLanguageField
            {...{ messages, name: "push[notify_emails_to_locale]", value: values.notifyEmailsToLocale }}
            problem={problems.notifyEmailsToLocale}
          />
        </>
      )}
      {mails.viewsTo !== null && (
        <ViewNotificationBox messages={messages} email={mails.viewsTo} checked={values.notifyOnView} />
      )}
      {mails.viewsAfterConfirmation && <ConfirmFirst page={page} />}
    </fieldset>
  );
}

export interface RecipientsFieldProps {
  readonly messages: Messages;
  readonly limits: Pick<NewPushLimits, "recipientsMax">;
  readonly label: string;
  readonly name: string;
  /** As typed. */
  readonly value: string;
  readonly problem: string | undefined;
  readonly required?: boolean;
}

export function RecipientsField({ messages, limits, required = false, ...field }: RecipientsFieldProps) {
  return (
    <InputField
      {...field}
      id="push_notify_emails_to"
      hint={messages.notices.toHint({ count: limits.recipientsMax })}
      input={{ type: "email", multiple: true, dir: "ltr", autoComplete: "off", required }}
    />
  );
}

export interface MailLanguageFieldProps {
  readonly messages: Messages;
  readonly name: string;
  readonly value: string;
  readonly problem?: string | undefined;
}

export function MailLanguageField({ messages, ...field }: MailLanguageFieldProps) {
  const options = languages.map(({ locale: { tag, name } }) => ({ value: tag, label: name, lang: tag }));
  return <SelectField {...field} id="push_notify_emails_to_locale" label={messages.notices.locale} options={options} />;
}

export function ViewNotificationBox({
  messages,
  email,
  checked,
}: {
  messages: Messages;
  email: string;
  checked: boolean;
}) {
  const { notices } = messages;
  return (
    <Checkbox
      id="push_notify_on_view"
      name="push[notify_on_view]"
      label={notices.onView}
      hint={notices.onViewHint({ email })}
      checked={checked}
    />
  );
}

/** In place of the box, or beside one that can only be cleared, for whoever could be told of views. */
export function ConfirmFirst({ page }: { readonly page: PageContext }) {
  const { confirmFirst, confirmFirstLink } = page.messages.notices;
  const link = (
    <a key="link" href={`${pageHref(page, accountPath)}#email_section`}>
      {confirmFirstLink}
    </a>
  );
  return <p class="field-hint">{confirmFirst.parts({ link })}</p>;
}
