import type { Messages } from "../../i18n/i18n.ts";
import type { EarlierViews } from "../../pushes/pushes.ts";
import type { AssetName } from "../assets.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { fitsQrCode, QrCode } from "../parts/qr-code.tsx";
import { LocalTime } from "../parts/times.tsx";
import { FieldRows } from "./fields-view.tsx";
import type { SecretModel } from "./model.ts";
import { Actions, Choices, type PayloadProps, TextPayload, Veiled } from "./payload-box.tsx";
import { SealedContent } from "./sealed-view.tsx";

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
      scripts={["secret.js", ...openingScripts(model)]}
    >
      <div class="page-heading">
        <h1>{secret[model.kind]}</h1>
        {model.sender !== null && (
          <p class="lead">{secret.from.parts({ sender: <bdi key="sender">{model.sender}</bdi> })}</p>
        )}
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

function openingScripts({ endToEnd, fields }: SecretModel): readonly AssetName[] {
  if (endToEnd !== null) return ["open-sealed.js"];
  return fields?.some(({ type }) => type === "otp") === true ? ["one-time-codes.js"] : [];
}

interface Props {
  readonly model: SecretModel;
  readonly page: PageContext;
}

function Payload({ model: { kind, payload, fields, blur }, page: { messages } }: Props) {
  if (fields !== null) {
    return (
      <section class="secret-section">
        <FieldRows fields={fields} messages={messages} />
        <Choices messages={messages} blur={false} />
      </section>
    );
  }
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
