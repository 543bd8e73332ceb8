import type { ComponentChildren } from "preact";
import type { PageContext } from "../page.ts";
import { Icon, type IconName } from "./icon.tsx";
import { PostForm } from "./post-form.tsx";

export interface ConfirmProps {
  readonly page: PageContext;
  readonly icon: IconName;
  readonly label: string;
  /** Where several of these stand on one page: what this one is about. */
  readonly accessibleLabel?: string;
  readonly explanation: string;
  readonly confirm: string;
  /** Where the form is posted: a path of ours. */
  readonly action: string;
  /** "plain": for what can be undone. */
  readonly tone?: "danger" | "plain";
  /** Of several in one group, at most one is open. */
  readonly group?: string;
  /** What the form sends beside the press of its button. */
  readonly children?: ComponentChildren;
}

/** Two steps to what must not happen by a slip, without a script: the first opens, the second does. */
export function Confirm({
  page,
  icon,
  label,
  accessibleLabel,
  explanation,
  confirm,
  action,
  tone = "danger",
  group,
  children,
}: ConfirmProps) {
  return (
    <details class={tone === "plain" ? "confirm confirm-plain" : "confirm"} name={group}>
      <summary class="button button-quiet-danger" aria-label={accessibleLabel}>
        <Icon name={icon} />
        <span>{label}</span>
      </summary>
      <PostForm page={page} class="confirm-body" action={action}>
        {children}
        <p>{explanation}</p>
        <button type="submit" class={tone === "plain" ? "button button-primary" : "button button-danger"}>
          {confirm}
        </button>
      </PostForm>
    </details>
  );
}
