import type { PageContext } from "../page.ts";
import { Icon } from "./icon.tsx";

export interface PasskeyButtonProps {
  readonly page: PageContext;
  readonly action: "create" | "get";
  /** Where the script asks for what the browser needs. */
  readonly options: string;
  /** Of the hidden field that the answer is sent in. */
  readonly name: string;
  readonly label: string;
  /** Id of the field that the answer stands in for; without it, the form is sent with the answer. */
  readonly insteadOf?: string;
  /** As wide as its form: where it is a way of its own. "primary": the way. */
  readonly wide?: "primary" | "secondary";
}

const classes = {
  primary: "button button-primary button-large button-wide",
  secondary: "button button-wide",
  narrow: "button",
} as const;

/** Stands in a form, hidden until a script can serve it (client/parts/passkey-button.ts). */
export function PasskeyButton({ page, action, options, name, label, insteadOf, wide }: PasskeyButtonProps) {
  const { passkeys, proof } = page.messages.factors;
  return (
    <div
      class="passkey"
      hidden
      data-passkey={action}
      data-options={options}
      data-send={insteadOf === undefined ? true : undefined}
      data-instead-of={insteadOf}
      data-cancelled={passkeys.cancelled}
      data-failed={passkeys.failed}
      data-known={passkeys.known}
      data-confirmed={insteadOf === undefined ? undefined : proof.confirmed}
    >
      <input type="hidden" name={name} value="" />
      <button type="button" class={classes[wide ?? "narrow"]}>
        <Icon name="key" />
        <span>{label}</span>
      </button>
      <p class="passkey-status" role="status" />
    </div>
  );
}
