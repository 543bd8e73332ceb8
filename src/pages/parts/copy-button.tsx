import type { Messages } from "../../i18n/i18n.ts";
import { Icon } from "./icon.tsx";

export interface CopyButtonProps {
  readonly messages: Messages;
  /** The id of the element whose value or text is copied. */
  readonly of: string;
  readonly label: string;
  readonly primary?: boolean;
}

/** Stays hidden until a script can serve it. What it did is told in messages, to screen readers too. */
export function CopyButton({ messages, of, label, primary = false }: CopyButtonProps) {
  return (
    <span class="copy" hidden data-scripted>
      <button
        type="button"
        class={primary ? "button button-primary" : "button"}
        data-copy={of}
        data-copied={messages.actions.copied}
        data-copy-by-hand={messages.actions.copyByHand}
      >
        <Icon name="copy" />
        <span>{label}</span>
      </button>
      <span class="copy-status" role="status" />
    </span>
  );
}
