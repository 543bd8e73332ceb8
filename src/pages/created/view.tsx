import { nameOf } from "../../branding/branding.ts";
import { findMessages } from "../../i18n/i18n.ts";
import { noRules } from "../../policies/policies.ts";
import { spaced } from "../audit/view.tsx";
import { hasSealedLabels } from "../dashboard/push-parts.tsx";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, pageHref, useMessages, usePage, withLocale } from "../page.ts";
import { Button, ButtonLink, CopyButton, FormEnd, Label } from "../parts/buttons.tsx";
import { Card } from "../parts/card.tsx";
import { FormNotices } from "../parts/form-messages.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Confirm, PostForm } from "../parts/post-form.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import { RelativeTime } from "../parts/times.tsx";
import { MailLanguageField, RecipientsField } from "../push-form/controls.tsx";
import { ruleHint } from "../push-form/rule-hints.ts";
import { Message, PrintedSheet, RecipientLanguage } from "./message.tsx";
import type { CreatedModel } from "./model.ts";
import { SealedLabels, WithKey } from "./sealed-parts.tsx";

/**
 * The link of a new push with everything needed to hand it over. The QR code is the first drawing of the page: programs
 * fetch this page and take the first one.
 */
export function createdView(model: CreatedModel, page: PageContext): Page {
  const { messages } = page;
  const { created, secret } = messages;
  const recipient = findMessages(model.recipientTag ?? undefined, page.languages);
  const link = recipient === undefined ? model.link : withLocale(model.link, recipient.locale.tag);
  return (
    <Layout
      page={page}
      title={created.title}
      width={page.user === null ? "regular" : "wide"}
      styles={["created.css"]}
      // The second one stores the key.
      scripts={[
        "link-page.js",
        ...(model.endToEnd === null ? [] : ["sealed-link.js" as const]),
        ...(hasSealedLabels(model.labels) ? ["open-sealed.js" as const] : []),
      ]}
    >
      <WithKey endToEnd={model.endToEnd}>
        <Heading model={model} />
        {hasSealedLabels(model.labels) && <SealedLabels labels={model.labels} />}
        <div class="handover stack">
          {/* Password Pusher's browser extension shows the first SVG of this page as the code. */}
          <figure class="qr-frame">
            <div id="qr_code" data-part>
              <QrCode text={link} label={created.qr} />
            </div>
            <figcaption dir="auto">{nameOf(page.theme)}</figcaption>
          </figure>
          <div class="card link-card">
            <LinkToHandOut link={link} />
            <Actions model={model} />
            <WhatHappens model={model} />
            <div class="stack message-panel">
              <Message limits={model} link={link} recipient={recipient ?? messages} />
              <RecipientLanguage path={model.previewPath} recipient={recipient} />
            </div>
          </div>
          <CodeFiles model={model} />
        </div>
      </WithKey>
      {model.mailForm !== null && <MailSection form={model.mailForm} />}
      <PrintedSheet limits={model} recipient={recipient ?? messages} />
      {model.owned !== null && <Opened owned={model.owned} previewPath={model.previewPath} />}
      <div class="page-actions no-print">
        <ButtonLink to={`/?kind=${model.kind}`} label={created.another} />
        {model.owned !== null && <ButtonLink to={model.owned.anotherPath} label={created.anotherLike} />}
        {model.deletePath !== null && (
          <Confirm
            icon="trash"
            label={created.delete}
            explanation={created.deleteText}
            confirm={secret.deleteConfirm}
            action={model.deletePath}
          />
        )}
      </div>
    </Layout>
  );
}

/** The link was just mailed: to whom, and whether it has arrived. */
function Heading({ model }: PartProps<CreatedModel>) {
  const { created, pushEmails } = useMessages();
  const delivery = model.owned?.delivery;
  return (
    <div class="page-heading no-print">
      {delivery === undefined ? (
        <h1>{created.heading}</h1>
      ) : (
        <>
          <h1>{created.sentTo.parts({ recipients: <bdi>{spaced(delivery.recipients)}</bdi> })}</h1>
          <p>
            <span class="badge" role="status" data-delivery>
              {pushEmails.statuses[delivery.status]}
            </span>
          </p>
        </>
      )}
      <p class="lead">{model.passphraseRequired ? created.leadPassphrase : created.lead}</p>
    </div>
  );
}

/** The page answers the form by which the link is mailed. */
function isMailing(form: CreatedModel["mailForm"]): boolean {
  return form !== null && (form.isSent || form.state.status !== 200);
}

function LinkToHandOut({ link }: { readonly link: string }) {
  const { created } = useMessages();
  return (
    <div class="field">
      <label class="field-label no-print" for="link">
        {created.link}
      </label>
      <input
        class="input input-link"
        id="link"
        type="text"
        readOnly
        value={link}
        dir="ltr"
        autoComplete="off"
        data-select
        data-part
      />
      <p class="link-printed" id="link_printed" dir="ltr" aria-hidden="true" data-part>
        {link}
      </p>
    </div>
  );
}

/** Everything that can be done with the link, in one row. The style sheet shows what is checked, without a script. */
function Actions({ model: { mailForm, recipientTag } }: PartProps<CreatedModel>) {
  const { created } = useMessages();
  return (
    <div class="line handover-actions no-print">
      <CopyButton of="link" label={created.copyLink} primary focus={!isMailing(mailForm)} />
      <Button label={created.share} icon="share" hidden data-share="message" />
      <Panel id="show_message" icon="text" label={created.showMessage} isOpen={recipientTag !== null} />
      {mailForm !== null && (
        <Panel id="show_mail" icon="mail" label={created.showMail} isOpen={mailForm.state.status !== 200} />
      )}
      <Panel id="show_qr" icon="qr" label={created.showQr} />
      <Panel id="show_print" icon="print" label={created.showPrint} />
    </div>
  );
}

interface PanelProps {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  readonly isOpen?: boolean;
}

function Panel({ id, icon, label, isOpen = false }: PanelProps) {
  return (
    <label class="button panel-toggle">
      <input class="visually-hidden" type="checkbox" id={id} checked={isOpen} autoComplete="off" />
      <Label icon={icon} text={label} />
    </label>
  );
}

/** The script makes the files of a code with a key (browser/parts/complete-link.ts). */
function CodeFiles({ model: { previewPath, recipientTag, endToEnd } }: { readonly model: CreatedModel }) {
  const { created } = useMessages();
  const recipient = recipientTag === null ? "" : `&recipient=${recipientTag}`;
  return (
    <p class="line code-files no-print">
      {(["svg", "png"] as const).map((format) => (
        <a
          key={format}
          class="action"
          id={`qr_${format}`}
          href={endToEnd === null ? `${previewPath}/qr?format=${format}${recipient}` : "#qr_code"}
          aria-label={created.saveCode({ format: format.toUpperCase() })}
          download={`qr-code.${format}`}
          data-part
        >
          <Icon name="download" />
          {format.toUpperCase()}
        </a>
      ))}
    </p>
  );
}

interface OpenedProps extends Pick<CreatedModel, "previewPath"> {
  readonly owned: NonNullable<CreatedModel["owned"]>;
}

/** A script keeps the sentence current while the page is visible. */
function Opened({ owned, previewPath }: OpenedProps) {
  const page = usePage();
  const { created, dashboard } = page.messages;
  return (
    <section class="card line opened no-print" aria-labelledby="opened">
      <h2 class="visually-hidden" id="opened">
        {dashboard.state}
      </h2>
      <Icon name="eye" />
      <p role="status" data-opened={owned.openedPath}>
        {owned.openedText}
      </p>
      <noscript>
        <a href={pageHref(page, previewPath)}>{created.checkAgain}</a>
      </noscript>
      <ButtonLink to={owned.auditPath} label={dashboard.audit} icon="clock" />
      <ButtonLink to={owned.editPath} label={dashboard.edit} icon="pencil" />
    </section>
  );
}

function WhatHappens({ model }: PartProps<CreatedModel>) {
  const { created } = useMessages();
  // A distance: the message below has the only date of the page, and so its only time zone.
  const until = created.until.parts({
    date: <RelativeTime timeMs={model.expiresAt} nowMs={model.nowMs} />,
  });
  const facts = [
    created.opens({ count: model.viewsRemaining }),
    until,
    ...(model.passphraseRequired ? [created.passphrase] : []),
    ...(model.hasStep && model.deletableByViewer
      ? [created.stepDeletable]
      : [model.hasStep ? created.step : created.noStep, ...(model.deletableByViewer ? [created.deletable] : [])]),
  ];
  return (
    <section class="no-print" aria-label={created.next}>
      <ul class="facts-line">
        {facts.map((fact, at) => (
          <li key={at}>{fact}</li>
        ))}
      </ul>
    </section>
  );
}

const mailHeadingId = "mail_link";

function MailSection({ form }: { readonly form: NonNullable<CreatedModel["mailForm"]> }) {
  const messages = useMessages();
  const { pushEmails } = messages;
  return (
    <Card id={mailHeadingId} heading={pushEmails.sendHeading} class="mail-link no-print">
      <FormNotices state={form.state} />
      <PostForm class="form" action={form.path} answerAt={mailHeadingId} autoComplete="off">
        <RecipientsField
          limits={form.limits}
          rule={ruleHint("notifyEmailsTo", { ...noRules, mailDomains: form.mailDomains }, messages)}
          label={pushEmails.sendTo}
          name="notify_emails_to"
          required
          value={form.recipients}
          problem={form.state.problems.recipients}
        />
        <MailLanguageField name="notify_emails_to_locale" value={form.locale} />
        <FormEnd label={pushEmails.send} icon="mail" look="plain" />
      </PostForm>
    </Card>
  );
}
