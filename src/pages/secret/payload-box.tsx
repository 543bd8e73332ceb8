import type { ComponentChildren } from "preact";
import { useMessages } from "../page.ts";
import { Button, CopyButton } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { fitsQrCode, QrCode } from "../parts/qr-code.tsx";

export interface PayloadProps {
  readonly payload: string;
  readonly blur: boolean;
  readonly label: string;
}

export interface VeiledProps extends Pick<PayloadProps, "blur" | "label"> {
  readonly children?: ComponentChildren;
}

/** It can have the focus, so that people scroll it with the keyboard. */
export const scrollable = (label: string) => ({ role: "group", "aria-label": label, tabIndex: 0 }) as const;

/**
 * A box of limited height that scrolls. If it is veiled, its content is neither shown nor read out until somebody opens the
 * veil, which is the box itself.
 */
export function Veiled({ blur, label, children }: VeiledProps) {
  const { secret } = useMessages();
  const content = (
    <div class="secret-box" {...scrollable(label)}>
      {children}
    </div>
  );
  if (!blur) return content;
  return (
    <details class="veil" data-veil>
      <summary>
        <Icon name="eye" />
        <span class="veil-show">{secret.reveal}</span>
        <span class="veil-hide">{secret.conceal}</span>
      </summary>
      {content}
    </details>
  );
}

/** Before the secret, so that it is on the first screen however long the secret is. */
function Actions() {
  const { actions } = useMessages();
  return (
    <div class="line secret-actions">
      <CopyButton of="payload" label={actions.copy} primary />
    </div>
  );
}

interface PayloadChoicesProps extends Pick<VeiledProps, "blur"> {
  /** The text can be saved as a file. */
  readonly saves: boolean;
}

/** What the reader can choose where scripts run. */
export function PayloadChoices({ blur, saves }: PayloadChoicesProps) {
  const { secret } = useMessages();
  return (
    <>
      {saves && (
        <p>
          <Button label={secret.save} icon="download" data-save="payload" data-filename="secret.txt" />
        </p>
      )}
      {blur && (
        <label class="tick">
          <input type="checkbox" id="keep_open" autoComplete="off" />
          <span>{secret.keepOpen}</span>
        </label>
      )}
      <label class="tick" hidden>
        <input type="checkbox" id="clear_clipboard" autoComplete="off" />
        <span>{secret.clearClipboard}</span>
      </label>
    </>
  );
}

/** What became of the clipboard, which a reader chose to clear. Outside the menu, which may be closed by then. */
export function ClipboardStatus() {
  const { secret } = useMessages();
  return (
    <p
      class="field-hint no-print"
      role="status"
      data-clipboard-status
      data-cleared={secret.clipboardCleared}
      data-kept={secret.clipboardKept}
    />
  );
}

interface TextPayloadProps extends PayloadProps {
  /** Beside files: the label is shown. */
  readonly isHeaded: boolean;
}

export function TextPayload({ payload, blur, label, isHeaded }: TextPayloadProps) {
  return (
    <section class="stack-small">
      {isHeaded && <h2>{label}</h2>}
      <Actions />
      <Veiled blur={blur} label={label}>
        <ExactText id="payload" text={payload} />
      </Veiled>
    </section>
  );
}

export function QrPayload({ payload, blur, label }: PayloadProps) {
  const { secret } = useMessages();
  return (
    <section class="stack-small">
      <Actions />
      {fitsQrCode(payload) ? (
        <Veiled blur={blur} label={label}>
          <QrCode text={payload} label={secret.qrLabel} />
        </Veiled>
      ) : (
        <p>{secret.qrTooLong}</p>
      )}
      <details class="disclosure">
        <summary>{secret.qrText}</summary>
        <ExactText id="payload" text={payload} />
      </details>
    </section>
  );
}
