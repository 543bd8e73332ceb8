import type { Messages } from "../../i18n/i18n.ts";
import { Icon } from "./icon.tsx";

export interface ShowButtonProps {
  readonly messages: Messages;
  /** Id of the password field that it uncovers. */
  readonly of: string;
}

/** Hidden until a script can serve it (client/parts/fields.ts). */
export function ShowButton({ messages: { actions }, of }: ShowButtonProps) {
  return (
    <button type="button" class="button" hidden data-scripted data-show={of} data-label-hide={actions.hide}>
      <Icon name="eye" />
      <span data-show-label>{actions.show}</span>
    </button>
  );
}
