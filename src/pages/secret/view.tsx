import type { KindName } from "../../config/config.ts";
import { Layout } from "../layout.tsx";
import type { Page, PageContext } from "../page.ts";
import { Confirm } from "../parts/confirm.tsx";
import { LocalTime } from "../parts/local-time.tsx";
import { Notice } from "../parts/notice.tsx";
import { Address, Files, QrPayload, TextPayload } from "./content.tsx";

export interface SecretFile {
  readonly filename: string;
  readonly sizeBytes: number;
  /** Path of the download, with its ticket. */
  readonly href: string;
}

export interface SecretModel {
  readonly kind: KindName;
  readonly payload: string;
  readonly files: readonly SecretFile[];
  /** How long the downloads stay open. */
  readonly ticketTtlSeconds: number;
  /** Hidden behind a blur until the reader asks for it. */
  readonly blur: boolean;
  readonly viewsRemaining: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** False for the owner and administrators, whose own views do not count. */
  readonly counted: boolean;
  /** Where deleting is posted to; null when it is not allowed or the push has ended. */
  readonly deletePath: string | null;
}

/**
 * An opened push. It offers no change of language: a link back here would cost another view. Scripts
 * may copy and save; the secret is in the page whether or not they run.
 */
export function secretView(model: SecretModel, page: PageContext): Page {
  const { secret } = page.messages;
  return (
    <Layout page={{ ...page, selfPath: null }} title={secret.title} privatePage>
      <div class="page-heading">
        <h1>{secret[model.kind]}</h1>
      </div>
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

/** What is left of the push, said before the secret: on the last view the reader must know that there is no second theme. */
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
