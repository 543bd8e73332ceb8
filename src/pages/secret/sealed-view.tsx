import type { EndToEnd } from "../../pushes/pushes.ts";
import { type PartProps, useMessages } from "../page.ts";
import { Button, Label, ShowButton, Submit } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { InputField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { EmptyFieldRows } from "./fields-view.tsx";
import type { SecretModel } from "./model.ts";
import { scrollable, TextPayload } from "./payload-box.tsx";
import { KeyProblems } from "./step-view.tsx";

/** A script fills in the name. */
const named = { filename: "{filename}" };

type SealedContentProps = PartProps<SecretModel & { readonly endToEnd: EndToEnd }>;

function SealedPassphrase() {
  const { endToEnd: text, step } = useMessages();
  return (
    <div hidden data-key-state="passphrase">
      <form class="form" autoComplete="off" data-sealed-passphrase>
        <InputField
          id="sealed_passphrase"
          label={step.passphrase}
          hint={text.passphraseHint}
          wrongPassphrase={text.wrongPassphrase}
          input={{ type: "password", required: true, autoComplete: "off", spellcheck: false }}
          inside={<ShowButton of="sealed_passphrase" />}
        />
        <Submit label={step.open} icon="key" look="large" />
      </form>
    </div>
  );
}

/**
 * What the sender has sealed, as the server has it; without scripts, for the age tool. The script opens it in these elements
 * (browser/parts/open-sealed.ts).
 */
export function SealedContent({ model }: SealedContentProps) {
  const { endToEnd: text, secret } = useMessages();
  const { payload, kind, files, blur, endToEnd } = model;
  return (
    <div class="stack" data-sealed>
      <KeyProblems />
      <p role="status" hidden data-key-state="opening">
        {text.opening}
      </p>
      <div hidden data-key-state="damaged">
        <Notice tone="danger" icon="alert" alert text={text.damaged} />
      </div>
      <div hidden data-key-state="unexpected">
        <Notice tone="danger" icon="alert" alert text={text.unexpected} />
      </div>
      <div hidden data-key-state="incomplete">
        <Notice tone="danger" icon="alert" alert>
          <p>{text.incomplete}</p>
          <ul
            dir="auto"
            data-delivery-problems
            data-missing={text.missingFile(named)}
            data-added={text.addedFile(named)}
            data-short={text.shortFile(named)}
          />
        </Notice>
      </div>
      {endToEnd.underPassphrase && <SealedPassphrase />}
      <div hidden data-key-state="opened">
        <div data-opened-text>
          <TextPayload
            payload=""
            blur={blur}
            label={kind === "file" ? secret.message : secret.text}
            isHeaded={kind === "file"}
          />
        </div>
      </div>
      <EmptyFieldRows />
      {payload !== "" && (
        <details class="disclosure" data-sealed-text>
          <summary>{text.sealedText}</summary>
          <ExactText id="sealed" text={payload} />
        </details>
      )}
      {files.length > 0 && <SealedFiles model={model} />}
    </div>
  );
}

function SealedFiles({ model: { files, ticketTtlSeconds } }: SealedContentProps) {
  const { endToEnd: text, newPush, secret, formats } = useMessages();
  const isOnly = files.length === 1;
  const buttonClass = isOnly ? "button button-wide" : "button button-icon";
  const nameOf = (filename: string) => <bdi data-file-name>{filename}</bdi>;
  const sizeOf = (bytes: number) => (
    <bdi class="size" data-file-size>
      {formats.bytes(bytes)}
    </bdi>
  );
  return (
    <section
      aria-labelledby="files"
      data-sealed-files
      data-download={secret.download(named)}
      data-look={text.look(named)}
      data-saving={text.saving(named)}
      data-saved={text.saved(named)}
      data-failed={text.saveFailed(named)}
      data-not-shown={text.notShown(named)}
      data-too-large={text.tooLarge({ max: "{max}" })}
      data-look-failed={text.lookFailed(named)}
    >
      <h2 class={isOnly ? "visually-hidden" : undefined} id="files">
        {newPush.files}
      </h2>
      <div hidden data-unlisted>
        <Notice tone="warning" icon="alert" text={text.unlisted} />
      </div>
      <ul class="files">
        {files.map(({ filename, href, sizeBytes }, at) => (
          <li key={href} class="line file" data-sealed-file={filename} data-bytes={sizeBytes}>
            {isOnly && (
              <a class="button button-large button-primary button-wide" href={href} download>
                <Label
                  icon="download"
                  text={secret.downloadOne.parts({ filename: nameOf(filename), size: sizeOf(sizeBytes) })}
                />
              </a>
            )}
            {!isOnly && <Icon name="file" />}
            <div class="file-text">
              {!isOnly && <span class="file-name">{nameOf(filename)}</span>}
              {!isOnly && <span class="field-hint">{sizeOf(sizeBytes)}</span>}
              <progress max={1} value={0} aria-label={secret.download({ filename })} hidden />
              <span role="status" />
            </div>
            <button type="button" class={buttonClass} hidden aria-expanded="false" aria-controls={`look_${at}`}>
              <Icon name="eye" />
              {isOnly && <span>{text.look.parts({ filename: nameOf(filename) })}</span>}
            </button>
            {!isOnly && (
              <a class={buttonClass} href={href} download aria-label={secret.download({ filename })}>
                <Icon name="download" />
              </a>
            )}
            <div class="secret-box file-look" id={`look_${at}`} hidden {...scrollable(filename)} data-looked />
          </li>
        ))}
      </ul>
      {files.length > 1 && <AllFiles />}
      <p class="field-hint">{secret.filesUntil({ count: Math.max(1, Math.round(ticketTtlSeconds / 60)) })}</p>
    </section>
  );
}

/** A script fills in the size. */
function AllFiles() {
  const { secret } = useMessages();
  return (
    <div class="files-all" hidden data-save-all>
      <Button label={secret.downloadAll.parts({ size: <bdi class="size" /> })} icon="download" />
      <div class="file-text">
        <progress max={1} value={0} aria-labelledby="files" hidden />
        <span role="status" />
      </div>
    </div>
  );
}
