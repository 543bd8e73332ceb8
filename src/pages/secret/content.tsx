import type { ComponentChildren } from "preact";
import type { Messages } from "../../i18n/i18n.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { fitsQrCode, QrCode } from "../parts/qr-code.tsx";
import type { SecretFile } from "./view.tsx";

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

export function TextPayload({ payload, blur, label, messages }: TextPayloadProps) {
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

export function QrPayload({ payload, blur, messages }: Omit<TextPayloadProps, "label">) {
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

/** Only http and https become a link, whatever got past the door. */
export function Address({ payload, messages }: { readonly payload: string; readonly messages: Messages }) {
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

export function Files({ files, ttlSeconds, messages }: FilesProps) {
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
