import type { ComponentChildren } from "preact";
import type { Messages } from "../../i18n/i18n.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";
import { Icon } from "../parts/icon.tsx";

export interface PayloadProps {
  readonly payload: string;
  readonly blur: boolean;
  readonly label: string;
  readonly messages: Messages;
}

export interface VeiledProps extends Pick<PayloadProps, "messages" | "blur" | "label"> {
  readonly children?: ComponentChildren;
}

/** It can have the focus, so that people scroll it with the keyboard. */
export const scrollable = (label: string) => ({ role: "group", "aria-label": label, tabIndex: 0 }) as const;

/**
 * A box of limited height that scrolls. If it is veiled, its content is neither shown nor read out until somebody opens it:
 * without scripts by the summary, which a script replaces with the button among the actions.
 */
export function Veiled({ messages, blur, label, children }: VeiledProps) {
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
export function Actions({ messages, blur, children }: Pick<VeiledProps, "messages" | "blur" | "children">) {
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
export function Choices({ messages: { secret }, blur }: Pick<VeiledProps, "messages" | "blur">) {
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
