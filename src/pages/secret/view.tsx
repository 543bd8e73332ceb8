import type { Messages } from "../../i18n/i18n.ts";
import type { EarlierViews } from "../../pushes/pushes.ts";
import type { AssetName } from "../assets.ts";
import { Layout } from "../layout.tsx";
import { type Page, type PageContext, type PartProps, useMessages } from "../page.ts";
import { CopyButton, Label } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { Confirm } from "../parts/post-form.tsx";
import { LocalTime, ShortTime } from "../parts/times.tsx";
import { FieldRows } from "./fields-view.tsx";
import type { SecretModel } from "./model.ts";
import { ClipboardStatus, PayloadChoices, QrPayload, TextPayload } from "./payload-box.tsx";
import { SealedContent } from "./sealed-view.tsx";

/**
 * An opened push. It offers no change of language: a link back here would cost another view. The secret is in the page
 * without scripts; they only copy and save it.
 */
export function secretView(model: SecretModel, page: PageContext): Page {
  const { secret } = page.messages;
  return (
    <Layout page={{ ...page, selfPath: null }} title={secret.title} scripts={["secret.js", ...openingScripts(model)]}>
      <div class="page-heading">
        <h1>{model.kind === "file" && model.files.length === 1 ? secret.oneFile : secret[model.kind]}</h1>
        <FactsLine model={model} />
      </div>
      <div class="card stack secret-card" data-secret>
        {model.endToEnd === null ? (
          <Payload model={model} />
        ) : (
          <SealedContent model={{ ...model, endToEnd: model.endToEnd }} />
        )}
        {model.endToEnd === null && model.files.length > 0 && (
          <Files
            files={model.files}
            zipHref={model.zipHref}
            isPrimary={model.payload === ""}
            ttlSeconds={model.ticketTtlSeconds}
          />
        )}
        <Menu model={model} />
        <ClipboardStatus />
      </div>
      {model.earlierViews !== null && <EarlierByOthers views={model.earlierViews} />}
    </Layout>
  );
}

function openingScripts({ endToEnd, fields }: SecretModel): readonly AssetName[] {
  if (endToEnd !== null) return ["open-sealed.js"];
  return fields?.some(({ type }) => type === "otp") === true ? ["one-time-codes.js"] : [];
}

type Props = PartProps<SecretModel>;

function Payload({ model: { kind, payload, fields, blur } }: Props) {
  const messages = useMessages();
  if (fields !== null) {
    return (
      <section class="stack-small">
        <FieldRows fields={fields} />
      </section>
    );
  }
  switch (kind) {
    case "text":
      return <TextPayload payload={payload} blur={blur} label={messages.secret.text} isHeaded={false} />;
    case "url":
      return <Address payload={payload} />;
    case "qr":
      return <QrPayload payload={payload} blur={blur} label={messages.secret.qr} />;
    case "file":
      return payload === "" ? null : (
        <TextPayload payload={payload} blur={blur} label={messages.secret.message} isHeaded />
      );
  }
}

/** One line before the secret. On the last view the reader must know that the page cannot be opened again. */
function FactsLine({ model }: Props) {
  const { secret } = useMessages();
  const { viewer, viewsRemaining, sender, expiresAt, repeated } = model;
  const from = sender !== null && <li>{secret.from.parts({ sender: <bdi key="sender">{sender}</bdi> })}</li>;
  if (viewer !== "recipient") {
    return (
      <ul class="facts-line">
        {from}
        <li>{viewer === "owner" ? secret.notCounted : secret.notCountedAdministrator}</li>
      </ul>
    );
  }
  if (viewsRemaining === 0) {
    return (
      <ul class="facts-line facts-last">
        {from}
        <li>{lastViewText(model, secret)}</li>
      </ul>
    );
  }
  return (
    <ul class="facts-line">
      {from}
      {repeated && <li>{secret.repeated}</li>}
      <li>{secret.viewsLeft({ count: viewsRemaining })}</li>
      <li>{secret.until.parts({ date: <ShortTime key="date" timeMs={expiresAt} /> })}</li>
    </ul>
  );
}

function lastViewText({ repeated, files }: SecretModel, secret: Messages["secret"]): string {
  if (repeated) return secret.lastViewAgain;
  return files.length > 0 ? secret.lastViewFiles : secret.lastView;
}

/** What few readers need. What only scripts do is not offered without them. */
function Menu({ model }: Props) {
  const { secret } = useMessages();
  const { kind, payload, fields, blur, endToEnd, earlierViews, deletePath } = model;
  const isFirst = earlierViews?.count === 0;
  const mayHaveText = kind !== "url" && (payload !== "" || endToEnd !== null);
  const needsScripts = deletePath === null && !isFirst && fields === null;
  if (needsScripts && !mayHaveText) return null;
  const isText = fields === null && kind !== "qr";
  return (
    <details class="secret-menu no-print" {...(needsScripts && shownByScript(model))}>
      <summary>{secret.more}</summary>
      <div class="stack-small secret-menu-body">
        {mayHaveText && (
          <div class="stack-small" {...shownByScript(model)}>
            {fields !== null && <CopyButton of="payload" label={secret.copyAll} />}
            <PayloadChoices blur={blur && fields === null} saves={isText} />
          </div>
        )}
        {fields !== null && (
          <details class="disclosure">
            <summary>{secret.allAsText}</summary>
            <ExactText id="payload" text={payload} />
          </details>
        )}
        {isFirst && <p class="field-hint">{secret.firstView}</p>}
        {deletePath !== null && (
          <Confirm
            icon="trash"
            label={secret.delete}
            explanation={secret.deleteText}
            confirm={secret.deleteConfirm}
            action={deletePath}
          />
        )}
      </div>
    </details>
  );
}

/** As soon as scripts run, or when one has opened the text. */
function shownByScript({ endToEnd }: SecretModel) {
  return { hidden: true, [endToEnd === null ? "data-scripted" : "data-opened-text"]: "" };
}

/** A person who intercepts a link opens it before its recipient. */
function EarlierByOthers({ views: { count, lastAt } }: { readonly views: EarlierViews }) {
  const { secret } = useMessages();
  if (count === 0) return null;
  return (
    <Notice tone="warning" icon="eye">
      <p>
        {secret.openedBefore({ count })}{" "}
        {lastAt !== null && secret.openedLast.parts({ date: <LocalTime timeMs={lastAt} /> })} {secret.openedByOthers}
      </p>
    </Notice>
  );
}

/** Only http and https become a link, whatever the payload holds. */
function Address({ payload }: { readonly payload: string }) {
  const messages = useMessages();
  const { secret } = messages;
  const parsed = URL.parse(payload);
  const followable = parsed !== null && (parsed.protocol === "https:" || parsed.protocol === "http:");
  return (
    <section class="stack-small">
      <div class="line secret-actions">
        {followable && (
          <a
            class="button button-primary"
            href={parsed.href}
            rel="noreferrer noopener nofollow"
            referrerpolicy="no-referrer"
          >
            <Label icon="external" text={secret.follow.parts({ host: <bdi key="host">{parsed.host}</bdi> })} />
          </a>
        )}
        <CopyButton of="payload" label={messages.actions.copy} />
      </div>
      <ExactText id="payload" text={payload} />
    </section>
  );
}

interface FilesProps extends Pick<SecretModel, "files" | "zipHref"> {
  readonly ttlSeconds: number;
  /** The files are all that the push has. */
  readonly isPrimary: boolean;
}

function Files({ files, zipHref, ttlSeconds, isPrimary }: FilesProps) {
  const { newPush, secret, formats } = useMessages();
  const totalBytes = files.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0);
  const [only, ...others] = files;
  const until = <p class="field-hint">{secret.filesUntil({ count: Math.max(1, Math.round(ttlSeconds / 60)) })}</p>;
  if (only !== undefined && others.length === 0) {
    return (
      <section class="stack-small" id="files" aria-label={newPush.files}>
        <OnlyFile file={only} isPrimary={isPrimary} />
        {until}
      </section>
    );
  }
  return (
    <section aria-labelledby="files">
      <h2 id="files">{newPush.files}</h2>
      <ul class="files">
        {files.map((file) => (
          <li key={file.href} class="line file">
            <Icon name="file" />
            <div class="file-text">
              <span class="file-name">
                <bdi>{file.filename}</bdi>
              </span>
              <span class="field-hint">{formats.bytes(file.sizeBytes)}</span>
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
          <a class={isPrimary ? "button button-primary" : "button"} href={zipHref} download>
            <Label
              icon="download"
              text={secret.downloadAll.parts({ size: <Size text={formats.bytes(totalBytes)} /> })}
            />
          </a>
        </p>
      )}
      {until}
    </section>
  );
}

function Size({ text }: { readonly text: string }) {
  return (
    <span class="size" dir="auto">
      {text}
    </span>
  );
}

interface OnlyFileProps extends Pick<FilesProps, "isPrimary"> {
  readonly file: SecretModel["files"][number];
}

function OnlyFile({ file: { filename, sizeBytes, href, viewHref }, isPrimary }: OnlyFileProps) {
  const { secret, formats } = useMessages();
  const name = <bdi key="name">{filename}</bdi>;
  return (
    <>
      <a class={`button button-large button-wide${isPrimary ? " button-primary" : ""}`} href={href} download>
        <Label
          icon="download"
          text={secret.downloadOne.parts({ filename: name, size: <Size text={formats.bytes(sizeBytes)} /> })}
        />
      </a>
      {viewHref !== null && (
        <a class="button button-wide" href={viewHref} target="_blank" rel="noreferrer noopener">
          <Label icon="eye" text={secret.look.parts({ filename: name })} />
        </a>
      )}
    </>
  );
}
