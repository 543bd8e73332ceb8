import type { ComponentChildren } from "preact";
import { formTokenField } from "../../http/cross-site.ts";
import { pageHref, usePage } from "../page.ts";
import { type ButtonProps, Submit } from "./buttons.tsx";
import { Icon, type IconName } from "./icon.tsx";

export interface PostFormProps {
  /** Path that the form is posted to. */
  readonly action: string;
  readonly class?: string;
  readonly id?: string;
  /** The path of this server that follows on the answer, sent as `next`. */
  readonly next?: string | null;
  /** For forms with files. */
  readonly multipart?: boolean;
  /** The id of the section to which the browser scrolls in the answer. */
  readonly answerAt?: string;
  /** Keeps the browser from storing the values. */
  readonly autoComplete?: "off";
  /** Where scripts run, the page stays until the answer is there (browser/parts/send.ts). The answer uses `redirectAfterForm`. */
  readonly keepsTyped?: boolean;
  /** Where scripts run, the answer takes the place of the page; for how many seconds it can be repeated (browser/parts/open-in-place.ts). */
  readonly opensInPlace?: number;
  readonly children: ComponentChildren;
}

/**
 * A form that changes state. It keeps the `?locale=` of the request and carries the session's form token, which is checked
 * for browsers that send neither Origin nor Sec-Fetch-Site.
 */
export function PostForm({
  action,
  class: className,
  id,
  next = null,
  multipart = false,
  answerAt,
  autoComplete,
  keepsTyped = false,
  opensInPlace,
  children,
}: PostFormProps) {
  const page = usePage();
  return (
    <form
      method="post"
      action={`${pageHref(page, action)}${answerAt === undefined ? "" : `#${answerAt}`}`}
      class={className}
      id={id}
      encType={multipart ? "multipart/form-data" : undefined}
      autoComplete={autoComplete}
      data-keeps-typed={keepsTyped || undefined}
      data-opens={opensInPlace}
    >
      {page.formToken !== null && <input type="hidden" name={formTokenField} value={page.formToken} />}
      {next !== null && <input type="hidden" name="next" value={next} />}
      {children}
    </form>
  );
}

interface PostButtonProps extends ButtonProps {
  /** Path that the button posts to. */
  readonly action: string;
}

/** A form that is only a button. */
export function PostButton({ action, ...button }: PostButtonProps) {
  return (
    <PostForm action={action}>
      <Submit {...button} />
    </PostForm>
  );
}

export interface ConfirmProps {
  readonly icon?: IconName;
  readonly label: string;
  /** Distinguishes several of these on one page. */
  readonly accessibleLabel?: string;
  readonly explanation: string;
  /** On the button that sends the form. Default: the label, or the accessible one. */
  readonly confirm?: string;
  /** Path that the form is posted to. */
  readonly action: string;
  /** As in `PostForm`. */
  readonly next?: string;
  /** "plain": for actions that can be undone. */
  readonly tone?: "danger" | "plain";
  /** At most one of a group is open. */
  readonly group?: string;
  /** What was typed in it is shown again. */
  readonly isOpen?: boolean;
  /** Fields of the form. */
  readonly children?: ComponentChildren;
}

/** Two clicks, without a script, for actions that must not happen by accident: the first opens the form, the second sends it. */
export function Confirm({
  icon,
  label,
  accessibleLabel,
  explanation,
  confirm,
  action,
  next,
  tone = "danger",
  group,
  isOpen = false,
  children,
}: ConfirmProps) {
  return (
    <details class={tone === "plain" ? "confirm confirm-plain" : "confirm"} name={group} open={isOpen}>
      <summary class={tone === "plain" ? "button" : "button button-quiet-danger"} aria-label={accessibleLabel}>
        {icon !== undefined && <Icon name={icon} />}
        <span>{label}</span>
      </summary>
      <PostForm class="line confirm-body" action={action} next={next ?? null}>
        {children}
        <p>{explanation}</p>
        <Submit label={confirm ?? accessibleLabel ?? label} look={tone === "plain" ? "primary" : "danger"} />
      </PostForm>
    </details>
  );
}
