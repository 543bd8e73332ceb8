import type { Messages } from "../../i18n/i18n.ts";
import { useMessages, usePage } from "../page.ts";
import { Button, CopyButton, Label, Submit } from "../parts/buttons.tsx";
import type { CreatedModel } from "./model.ts";

/** How often and how long a link works, and what it asks for. */
type LinkLimits = Pick<CreatedModel, "viewsRemaining" | "expiresAt" | "passphraseRequired">;

interface MessageProps {
  readonly limits: LinkLimits;
  readonly link: string;
  /** Texts in the recipient's language. */
  readonly recipient: Messages;
}

/** How often and how long the link works, for the recipient. */
function limitsText(limits: LinkLimits, { created, formats }: Messages): string {
  const sentences = [
    created.messageViews({ count: limits.viewsRemaining }),
    created.messageUntil({ date: formats.dateTime(limits.expiresAt) }),
    ...(limits.passphraseRequired ? [created.messagePassphrase] : []),
  ];
  return sentences.join(" ");
}

/** The link has a line of its own: mail and chat programs would take adjacent text as part of it. */
function messageText({ limits, link, recipient }: MessageProps): string {
  return [recipient.created.messageIntro, link, limitsText(limits, recipient)].join("\n\n");
}

/** RFC 6068: lines end with CR LF. The script replaces the body by the edited message. */
function mailHref(subject: string, body: string): string {
  const encoded = encodeURIComponent(body.replaceAll("\n", "\r\n"));
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encoded}`;
}

/** The text that goes with the link in a chat or an email. */
export function Message(props: MessageProps) {
  const { recipient } = props;
  const { created } = useMessages();
  const text = messageText(props);
  return (
    <div class="field no-print">
      <label class="field-label" for="message">
        {created.message}
      </label>
      <p class="field-hint" id="message_hint">
        {created.messageHint}
      </p>
      <textarea
        class="input"
        id="message"
        rows={7}
        lang={recipient.locale.tag}
        dir={recipient.locale.dir}
        aria-describedby="message_hint"
        autoComplete="off"
        data-part
      >
        {text}
      </textarea>
      <div class="page-actions">
        <CopyButton of="message" label={created.copyMessage} />
        <a
          class="button"
          id="mail_message"
          href={mailHref(recipient.created.messageSubject, text)}
          data-mails="message"
          data-part
        >
          <Label icon="mail" text={created.writeEmail} />
        </a>
      </div>
    </div>
  );
}

interface PrintedSheetProps {
  readonly limits: LinkLimits;
  /** Texts in the recipient's language. */
  readonly recipient: Messages;
}

/** What the printed page has besides link and QR code. The style sheet prints what is typed and chosen here, without a script. */
export function PrintedSheet({ limits, recipient }: PrintedSheetProps) {
  const { created } = useMessages();
  const { tag, dir } = recipient.locale;
  return (
    <>
      <section class="card printed-sheet" aria-labelledby="print">
        <h2 class="no-print" id="print">
          {created.printHeading}
        </h2>
        <div class="field">
          <label class="field-label no-print" for="print_text">
            {created.printText}
          </label>
          <textarea class="input" id="print_text" rows={2} lang={tag} dir={dir} autoComplete="off" data-part>
            {recipient.created.messageIntro}
          </textarea>
        </div>
        <div class="checkbox no-print">
          <input type="checkbox" id="print_limits" checked />
          <label for="print_limits">{created.printLimits}</label>
        </div>
        <div class="no-print" hidden data-scripted>
          <Button label={created.print} icon="print" data-print />
        </div>
      </section>
      <p class="limits-printed" id="limits_printed" lang={tag} dir={dir} aria-hidden="true" data-part>
        {limitsText(limits, recipient)}
      </p>
    </>
  );
}

interface RecipientProps {
  /** The path of this page. */
  readonly path: string;
  readonly recipient: Messages | undefined;
}

/** The language of the link and of the words that go with it. */
export function RecipientLanguage({ path, recipient }: RecipientProps) {
  const page = usePage();
  const { created, locale } = page.messages;
  return (
    <form class="field no-print" method="get" action={path} autoComplete="off">
      {page.localeAsked && <input type="hidden" name="locale" value={locale.tag} />}
      <label class="field-label" for="recipient">
        {created.recipientLanguage}
      </label>
      <div class="input-row">
        <select class="input" id="recipient" name="recipient" data-replaces-parts>
          <option value="">{created.automatic}</option>
          {page.languages.map(({ locale: { tag, name } }) => (
            <option key={tag} value={tag} lang={tag} selected={tag === recipient?.locale.tag}>
              {name}
            </option>
          ))}
        </select>
        <noscript>
          <Submit label={created.apply} look="plain" />
        </noscript>
      </div>
    </form>
  );
}
