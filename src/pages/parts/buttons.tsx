import type { ComponentChildren, ComponentProps } from "preact";
import { pageHref, useMessages, usePage } from "../page.ts";
import { Icon, type IconName } from "./icon.tsx";

const looks = {
  primary: "button button-primary",
  danger: "button button-danger",
  "quiet-danger": "button button-quiet-danger",
  plain: "button",
  small: "button button-small",
  large: "button button-primary button-large",
  /** The only one of a short form. */
  wide: "button button-primary button-large button-wide",
  /** As wide as its form, beside another one that is the main one. */
  alternative: "button button-wide",
  link: "link-button",
  action: "link-button action",
  "action-danger": "link-button action action-danger",
} as const;

type Look = keyof typeof looks;

export interface ButtonProps extends Omit<ComponentProps<"button">, "class" | "icon" | "label"> {
  readonly label: ComponentChildren;
  readonly icon?: IconName | undefined;
  readonly look?: Look | undefined;
}

/** For scripts, unless its type is "submit". */
export function Button({ label, icon, look = "plain", type = "button", ...attributes }: ButtonProps) {
  return (
    <button type={type} class={looks[look]} {...attributes}>
      <Label text={label} icon={icon} />
    </button>
  );
}

/** Sends the form that it is in. */
export function Submit(button: ButtonProps) {
  return <Button look="primary" {...button} type="submit" />;
}

/** The last line of a form: its button, and the links beside it. */
export function FormEnd({ children, ...submit }: ButtonProps & { readonly children?: ComponentChildren }) {
  return (
    <div class="form-end">
      <Submit {...submit} />
      {children}
    </div>
  );
}

export interface ButtonLinkProps {
  /** A path of this server. */
  readonly to: string;
  readonly label: string;
  readonly icon?: IconName | undefined;
  readonly look?: "primary" | "plain";
}

/** A link that looks like a button. */
export function ButtonLink({ to, label, icon, look = "plain" }: ButtonLinkProps) {
  const page = usePage();
  return (
    <a class={looks[look]} href={pageHref(page, to)}>
      <Label text={label} icon={icon} />
    </a>
  );
}

interface LabelProps {
  readonly text: ComponentChildren;
  readonly icon: IconName | undefined;
}

/** The text of a button or link, behind its icon. */
export function Label({ text, icon }: LabelProps) {
  if (icon === undefined) return <>{text}</>;
  return (
    <>
      <Icon name={icon} />
      <span>{text}</span>
    </>
  );
}

export interface CopyButtonProps {
  /** The id of the element whose value or text is copied. */
  readonly of: string;
  readonly label: string;
  /** What screen readers say instead of the label, which it contains. */
  readonly name?: string;
  readonly primary?: boolean;
  /** Takes the focus where scripts run. */
  readonly focus?: boolean;
}

/** Hidden until a script enables it. The result is announced in text, to screen readers too. */
export function CopyButton({ of, label, name, primary = false, focus = false }: CopyButtonProps) {
  const messages = useMessages();
  return (
    <span class="copy" hidden data-scripted>
      <Button
        label={label}
        icon="copy"
        look={primary ? "primary" : "plain"}
        aria-label={name}
        data-copy={of}
        data-copied={messages.actions.copied}
        data-copy-by-hand={messages.actions.copyByHand}
        data-focus={focus ? true : undefined}
      />
      <span class="copy-status" role="status" />
    </span>
  );
}

export interface ShowButtonProps {
  /** Id of the password field that it shows and hides. */
  readonly of: string;
}

/** An eye within the field. Hidden until a script enables it (browser/page.ts). */
export function ShowButton({ of }: ShowButtonProps) {
  const { actions } = useMessages();
  return (
    <button type="button" class="eye" hidden data-scripted data-show={of} data-label-hide={actions.hide}>
      <Icon name="eye" />
      <span class="visually-hidden" data-show-label>
        {actions.show}
      </span>
    </button>
  );
}

export interface PasskeyButtonProps {
  readonly action: "create" | "get";
  /** Path from which the script requests the WebAuthn options. */
  readonly options: string;
  /** Name of the hidden field that carries the answer. */
  readonly name: string;
  readonly label: string;
  /** Id of the field that the answer replaces; without it, the answer submits the form. */
  readonly insteadOf?: string;
  /** Id of a checkbox of another form; if it is checked, its value is sent too. */
  readonly copies?: string | undefined;
  readonly look?: Look | undefined;
}

/** Part of a form; hidden until a script enables it (browser/passkeys.ts). */
export function PasskeyButton({ action, options, name, label, insteadOf, copies, look }: PasskeyButtonProps) {
  const { passkeys, proof } = useMessages().factors;
  return (
    <div
      class="passkey"
      hidden
      data-passkey={action}
      data-options={options}
      data-send={insteadOf === undefined ? true : undefined}
      data-instead-of={insteadOf}
      data-copies={copies}
      data-cancelled={action === "create" ? passkeys.notAdded : passkeys.cancelled}
      data-failed={passkeys.failed}
      data-known={passkeys.known}
      data-confirmed={insteadOf === undefined ? undefined : proof.confirmed}
    >
      <input type="hidden" name={name} value="" />
      <Button label={label} icon="key" look={look} />
      <p class="passkey-status field-hint" role="status" />
    </div>
  );
}

/** Says why there is no passkey button. A script shows the second sentence in browsers without passkeys. */
export function PasskeysMissing() {
  const { passkeys } = useMessages().factors;
  return (
    <>
      <noscript>
        <p class="field-hint">{passkeys.noScript}</p>
      </noscript>
      <p class="field-hint" hidden data-without-passkeys>
        {passkeys.unsupported}
      </p>
    </>
  );
}

/** Leads to the start page, where there is one. */
export function HomeButton() {
  const page = usePage();
  if (page.recipientsOnly) return null;
  return <ButtonLink to="/" label={page.messages.failure.home} />;
}
