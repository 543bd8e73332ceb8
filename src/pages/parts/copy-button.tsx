import type { Words } from "../../words/words.ts";
import { Icon } from "./icon.tsx";

export interface CopyButtonProps {
  readonly words: Words;
  /** The id of the element whose value or text is copied. */
  readonly of: string;
  readonly label: string;
  readonly primary?: boolean;
}

/** Stays hidden until a script can serve it. What it did is told in words, to screen readers too. */
export function CopyButton({ words, of, label, primary = false }: CopyButtonProps) {
  return (
    <span class="copy" hidden data-scripted>
      <button
        type="button"
        class={primary ? "button button-primary" : "button"}
        data-copy={of}
        data-copied={words.actions.copied}
        data-copy-by-hand={words.actions.copyByHand}
      >
        <Icon name="copy" />
        <span>{label}</span>
      </button>
      <span class="copy-status" role="status" />
    </span>
  );
}
