import type { ComponentChildren } from "preact";
import type { KindName } from "../../base/push-kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { EarlierViews, EndToEnd } from "../../pushes/pushes.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { fitsQrCode, QrCode } from "../parts/qr-code.tsx";
import { LocalTime } from "../parts/times.tsx";
import { SealedContent } from "./sealed-view.tsx";
import type { Viewer } from "./step-view.tsx";

interface SecretFile {
  readonly filename: string;
  readonly sizeBytes: number;
  /** Path of the download, with its ticket. */
  readonly href: string;
  /** Path at which the browser shows it; null: it can only be saved. */
  readonly viewHref: string | null;
}

export interface SecretModel {
  readonly kind: KindName;
  /** null: `payload` is the secret itself. */
  readonly endToEnd: EndToEnd | null;
  readonly payload: string;
  readonly files: readonly SecretFile[];
  /** Path of all files as one archive; null where it is of no use. */
  readonly zipHref: string | null;
  /** How long the download links work. */
  readonly ticketTtlSeconds: number;
  /** Hidden until the reader shows it. */
  readonly blur: boolean;
  readonly viewsRemaining: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly viewer: Viewer;
  /** null: nothing is said about them. */
  readonly earlierViews: EarlierViews | null;
  /** The page was opened before and is reloaded. */
  readonly repeated: boolean;
  /** Where deleting is posted to; null where it is not allowed or the push has ended. */
  readonly deletePath: string | null;
}

/**
 * An opened push. It offers no change of language: a link back here would cost another view. The secret is in the page
 * without scripts; they only copy and save it.
 */
export function secretView(model: SecretModel, page: PageContext): Page {
  const { secret } = page.messages;
  return (
    <Layout
      page={{ ...page, selfPath: null }}
      title={secret.title}
      privatePage
      scripts={model.endToEnd === null ? ["secret.js"] : ["secret.js", "open-sealed.js"]}
    >
      <div class="page-heading">
        <h1>{secret[model.kind]}</h1>
      </div>
      {model.repeated && (
        <Notice tone="info" icon="eye">
          <p>{secret.repeated}</p>
        </Notice>
      )}
      <Remaining model={model} page={page} />
      {model.earlierViews !== null && <Earlier views={model.earlierViews} messages={page.messages} />}
      <div class="card stack" data-secret>
        {model.endToEnd === null ? (
          <Payload model={model} page={page} />
        ) : (
          <SealedContent model={{ ...model, endToEnd: model.endToEnd }} page={page} />
        )}
        {model.endToEnd === null && model.files.length > 0 && (
          <Files
            files={model.files}
            zipHref={model.zipHref}
            ttlSeconds={model.ticketTtlSeconds}
            messages={page.messages}
          />
        )}
      </div>
      {model.deletePath !== null && (
        <div class="page-actions no-print">
          <Confirm
            page={page}
            icon="trash"
            label={secret.delete}
            explanation={secret.deleteText}
            confirm={secret.deleteConfirm}
            action={model.deletePath}
          />
        </div>
      )}
    </Layout>
  );
}

interface Props {
  readonly model: SecretModel;
  readonly page: PageContext;
}

function Payload({ model: { kind, payload, blur }, page: { messages } }: Props) {
  switch (kind) {
    case "text":
      return <TextPayload payload={payload} blur={blur} label={messages.secret.text} messages={messages} />;
    case "url":
      return <Address payload={payload} messages={messages} />;
    case "qr":
      return <QrPayload payload={payload} blur={blur} label={messages.secret.qr} messages={messages} />;
    case "file":
      return payload === "" ? null : (
        <TextPayload payload={payload} blur={blur} label={messages.secret.message} messages={messages} />
      );
  }
}

/** Comes before the secret: on the last view the reader must know that the page cannot be opened again. */
function Remaining({ model, page }: Props) {
  const { messages } = page;
  const { secret } = messages;
  if (model.viewer !== "recipient") {
    return (
      <Notice tone="info" icon="eye">
        <p>{model.viewer === "owner" ? secret.notCounted : secret.notCountedAdministrator}</p>
      </Notice>
    );
  }
  if (model.viewsRemaining === 0) {
    return (
      <Notice tone="warning" icon="alert">
        <p>{model.files.length > 0 ? secret.lastViewFiles : secret.lastView}</p>
      </Notice>
    );
  }
  return (
    <Notice tone="info" icon="clock">
      <p>
        {secret.viewsLeft({ count: model.viewsRemaining })}{" "}
        {messages.step.until.parts({ date: <LocalTime timeMs={model.expiresAt} messages={messages} /> })}
      </p>
    </Notice>
  );
}

interface PayloadProps {
  readonly payload: string;
  readonly blur: boolean;
  readonly label: string;
  readonly messages: Messages;
}

interface EarlierProps {
  readonly views: EarlierViews;
  readonly messages: Messages;
}

/** A person who intercepts a link opens it before its recipient. */
function Earlier({ views: { count, lastAt }, messages }: EarlierProps) {
  const { secret } = messages;
  if (count === 0) return <p class="earlier">{secret.firstView}</p>;
  return (
    <Notice tone="warning" icon="eye">
      <p>
        {secret.openedBefore({ count })}{" "}
        {lastAt !== null && secret.openedLast.parts({ date: <LocalTime timeMs={lastAt} messages={messages} /> })}{" "}
        {secret.openedByOthers}
      </p>
    </Notice>
  );
}

interface VeiledProps extends Pick<PayloadProps, "messages" | "blur" | "label"> {
  readonly children?: ComponentChildren;
}

/** It can have the focus, so that people scroll it with the keyboard. */
export const scrollable = (label: string) => ({ role: "group", "aria-label": label, tabIndex: 0 }) as const;

/**
 * A box of limited height that scrolls. If it is veiled, its content is neither shown nor read out until somebody opens it:
 * without scripts by the summary, which a script replaces with the button among the actions.
 */
function Veiled({ messages, blur, label, children }: VeiledProps) {
  const content = (
    <div class="secret-box" {...scrollable(label)}>
      {children}
    </div>
  );
  if (!blur) return content;
  return (
    <div class="veil">
      <details data-veil>
        <summary class="button">
          <Icon name="eye" />
          <span class="veil-show">{messages.secret.reveal}</span>
          <span class="veil-hide">{messages.secret.conceal}</span>
        </summary>
        {content}
      </details>
      <p class="veil-cover" aria-hidden="true">
        ••••••••••••
      </p>
    </div>
  );
}

/** Before the secret, so that it is on the first screen however long the secret is. */
function Actions({ messages, blur, children }: Pick<VeiledProps, "messages" | "blur" | "children">) {
  const { secret } = messages;
  return (
    <div class="secret-actions">
      <CopyButton messages={messages} of="payload" label={messages.actions.copy} primary />
      {blur && (
        <button type="button" class="button" hidden data-unveils data-label-hide={secret.conceal} aria-expanded="false">
          <Icon name="eye" />
          <span data-unveils-label>{secret.reveal}</span>
        </button>
      )}
      {children}
    </div>
  );
}

/** What the reader can choose where scripts run. */
function Choices({ messages: { secret }, blur }: Pick<VeiledProps, "messages" | "blur">) {
  return (
    <div class="secret-choices no-print">
      {blur && (
        <label class="choice" hidden data-scripted>
          <input type="checkbox" id="keep_open" autoComplete="off" />
          <span>{secret.keepOpen}</span>
        </label>
      )}
      <label class="choice" hidden>
        <input type="checkbox" id="clear_clipboard" autoComplete="off" />
        <span>{secret.clearClipboard}</span>
      </label>
      <p
        class="field-hint"
        role="status"
        data-clipboard-status
        data-cleared={secret.clipboardCleared}
        data-kept={secret.clipboardKept}
      />
    </div>
  );
}

export function TextPayload({ payload, blur, label, messages }: PayloadProps) {
  return (
    <section class="secret-section">
      <Actions messages={messages} blur={blur}>
        <button type="button" class="button" hidden data-scripted data-save="payload" data-filename="secret.txt">
          <Icon name="download" />
          <span>{messages.secret.save}</span>
        </button>
      </Actions>
      <Veiled messages={messages} blur={blur} label={label}>
        <ExactText id="payload" text={payload} />
      </Veiled>
      <Choices messages={messages} blur={blur} />
    </section>
  );
}

function QrPayload({ payload, blur, label, messages }: PayloadProps) {
  const { secret } = messages;
  const fits = fitsQrCode(payload);
  return (
    <section class="secret-section">
      <Actions messages={messages} blur={blur && fits} />
      {fits ? (
        <Veiled messages={messages} blur={blur} label={label}>
          <QrCode text={payload} label={secret.qrLabel} />
        </Veiled>
      ) : (
        <p>{secret.qrTooLong}</p>
      )}
      <Choices messages={messages} blur={blur && fits} />
      <details class="disclosure">
        <summary>{secret.qrText}</summary>
        <ExactText id="payload" text={payload} />
      </details>
    </section>
  );
}

/** Only http and https become a link, whatever the payload holds. */
function Address({ payload, messages }: { readonly payload: string; readonly messages: Messages }) {
  const { secret } = messages;
  const parsed = URL.parse(payload);
  const followable = parsed !== null && (parsed.protocol === "https:" || parsed.protocol === "http:");
  return (
    <section class="stack">
      {followable && (
        <div>
          <p class="eyebrow">{secret.leadsTo}</p>
          <p class="destination" dir="ltr">
            {parsed.host}
          </p>
        </div>
      )}
      <div class="secret-actions">
        {followable && (
          <a
            class="button button-primary"
            href={parsed.href}
            rel="noreferrer noopener nofollow"
            referrerpolicy="no-referrer"
          >
            <Icon name="external" />
            <span>{secret.follow({ host: parsed.host })}</span>
          </a>
        )}
        <CopyButton messages={messages} of="payload" label={messages.actions.copy} />
      </div>
      <div>
        <p class="eyebrow">{secret.fullAddress}</p>
        <ExactText id="payload" text={payload} />
      </div>
    </section>
  );
}

interface FilesProps extends Pick<SecretModel, "files" | "zipHref"> {
  readonly ttlSeconds: number;
  readonly messages: Messages;
}

function Files({ files, zipHref, ttlSeconds, messages }: FilesProps) {
  const { newPush, secret, formats } = messages;
  const totalBytes = files.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
  return (
    <section aria-labelledby="files">
      <h2 class="section-heading" id="files">
        {newPush.files}
      </h2>
      <ul class="files">
        {files.map((file) => (
          <li key={file.href} class="file">
            <Icon name="file" />
            <div class="file-text">
              <span class="file-name" dir="auto">
                {file.filename}
              </span>
              <span class="file-size">{formats.bytes(file.sizeBytes)}</span>
            </div>
            {file.viewHref !== null && (
              <a
                class="button button-icon"
                href={file.viewHref}
                target="_blank"
                rel="noreferrer noopener"
                aria-label={secret.look({ filename: file.filename })}
              >
                <Icon name="eye" />
              </a>
            )}
            <a
              class="button button-icon"
              href={file.href}
              download
              aria-label={secret.download({ filename: file.filename })}
            >
              <Icon name="download" />
            </a>
          </li>
        ))}
      </ul>
      {zipHref !== null && (
        <p class="files-all">
          <a class="button" href={zipHref} download>
            <Icon name="download" />
            <span>{secret.downloadAll({ size: formats.bytes(totalBytes) })}</span>
          </a>
        </p>
      )}
      <p class="field-hint">{secret.filesUntil({ count: Math.max(1, Math.round(ttlSeconds / 60)) })}</p>
    </section>
  );
}
