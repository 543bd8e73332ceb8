import type { Words } from "../../words/words.ts";
import { Icon } from "./icon.tsx";

export interface ShowButtonProps {
  readonly words: Words;
  /** Id of the password field that it uncovers. */
  readonly of: string;
}

/** Hidden until a script can serve it (client/parts/fields.ts). */
export function ShowButton({ words: { actions }, of }: ShowButtonProps) {
  return (
    <button type="button" class="button" hidden data-scripted data-show={of} data-label-hide={actions.hide}>
      <Icon name="eye" />
      <span data-show-label>{actions.show}</span>
    </button>
  );
}
