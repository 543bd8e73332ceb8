import type { ComponentChildren } from "preact";
import type { KindName } from "../../base/push-kinds.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { fitsQrCode, QrCode } from "../parts/qr-code.tsx";
import { LocalTime } from "../parts/times.tsx";

interface SecretFile {
  readonly filename: string;
  readonly sizeBytes: number;
  /** Path of the download, with its ticket. */
  readonly href: string;
}

export interface SecretModel {
  readonly kind: KindName;
  readonly payload: string;
  readonly files: readonly SecretFile[];
  /** How long the download links work. */
  readonly ticketTtlSeconds: number;
  /** Blurred until the reader reveals it. */
  readonly blur: boolean;
  readonly viewsRemaining: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** False for the owner and administrators, whose views do not count. */
  readonly counted: boolean;
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
    <Layout page={{ ...page, selfPath: null }} title={secret.title} privatePage>
      <div class="page-heading">
        <h1>{secret[model.kind]}</h1>
      </div>
      {model.repeated && (
        <Notice tone="info" icon="eye">
          <p>{secret.repeated}</p>
        </Notice>
      )}
      <Remaining model={model} page={page} />
      <div class="card stack" data-secret>
        <Payload model={model} page={page} />
        {model.files.length > 0 && (
          <Files files={model.files} ttlSeconds={model.ticketTtlSeconds} messages={page.messages} />
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
      return <QrPayload payload={payload} blur={blur} messages={messages} />;
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
  if (!model.counted) {
    return (
      <Notice tone="info" icon="eye">
        <p>{secret.notCounted}</p>
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

interface VeiledProps {
  readonly messages: Messages;
  readonly blur: boolean;
  readonly children: ComponentChildren;
}

/** A box whose content is blurred until its checkbox is ticked: by pointer, by keyboard, without a script. */
function Veiled({ messages, blur, children }: VeiledProps) {
  if (!blur) return <div class="secret-box">{children}</div>;
  return (
    <div class="secret-box veiled">
      <input class="veil-toggle visually-hidden" type="checkbox" id="reveal" />
      <label class="veil-label" for="reveal">
        <Icon name="eye" />
        <span class="veil-reveal">{messages.secret.reveal}</span>
        <span class="veil-conceal">{messages.secret.conceal}</span>
      </label>
      <div class="veil-content">{children}</div>
    </div>
  );
}

interface TextPayloadProps {
  readonly payload: string;
  readonly blur: boolean;
  readonly label: string;
  readonly messages: Messages;
}

function TextPayload({ payload, blur, label, messages }: TextPayloadProps) {
  return (
    <section aria-label={label}>
      <Veiled messages={messages} blur={blur}>
        <ExactText id="payload" text={payload} />
      </Veiled>
      <div class="secret-actions">
        <CopyButton messages={messages} of="payload" label={messages.actions.copy} primary />
        <button type="button" class="button" hidden data-scripted data-save="payload" data-filename="secret.txt">
          <Icon name="download" />
          <span>{messages.secret.save}</span>
        </button>
      </div>
    </section>
  );
}

function QrPayload({ payload, blur, messages }: Omit<TextPayloadProps, "label">) {
  const { secret } = messages;
  return (
    <section class="stack" aria-label={secret.qr}>
      {fitsQrCode(payload) ? (
        <Veiled messages={messages} blur={blur}>
          <QrCode text={payload} label={secret.qrLabel} />
        </Veiled>
      ) : (
        <p>{secret.qrTooLong}</p>
      )}
      <details class="disclosure">
        <summary>{secret.qrText}</summary>
        <ExactText id="payload" text={payload} />
      </details>
      <div class="secret-actions">
        <CopyButton messages={messages} of="payload" label={messages.actions.copy} />
      </div>
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
      <div>
        <p class="eyebrow">{secret.fullAddress}</p>
        <ExactText id="payload" text={payload} />
      </div>
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
    </section>
  );
}

interface FilesProps {
  readonly files: readonly SecretFile[];
  readonly ttlSeconds: number;
  readonly messages: Messages;
}

function Files({ files, ttlSeconds, messages }: FilesProps) {
  const { newPush, secret, formats } = messages;
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
      <p class="field-hint">{secret.filesUntil({ count: Math.max(1, Math.round(ttlSeconds / 60)) })}</p>
    </section>
  );
}
