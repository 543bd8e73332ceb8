import type { ComponentChildren } from "preact";
import { wireName } from "../../http/errors.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Icon, type IconName } from "./icon.tsx";

export interface NoticeProps {
  readonly tone: "info" | "warning" | "danger" | "success";
  readonly icon: IconName;
  /** Read out as soon as the page is loaded; for answers to an action. */
  readonly alert?: boolean;
  readonly heading?: ComponentChildren;
  /** The first paragraph. */
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Notice({ tone, icon, alert = false, heading, text, children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={alert ? "alert" : undefined}>
      <Icon name={icon} />
      <div class="notice-text">
        {heading !== undefined && <h2 class="notice-heading">{heading}</h2>}
        {text !== undefined && <p>{text}</p>}
        {children}
      </div>
    </div>
  );
}

export interface FieldProblem {
  readonly fieldId: string;
  /** Includes the label of the field. */
  readonly message: string;
}

/** The problems of the fields with these labels, in their order. @param ids of the controls that do not have the wire name. */
export function problemsAt<Name extends string>(
  labels: Readonly<Record<Name, string>>,
  found: Readonly<Partial<Record<NoInfer<Name>, string | undefined>>>,
  { problems }: Messages,
  ids?: Readonly<Partial<Record<NoInfer<Name>, string>>>,
): readonly FieldProblem[] {
  return (Object.entries(labels) as [Name, string][]).flatMap(([name, field]) => {
    const problem = found[name];
    return problem === undefined
      ? []
      : [{ fieldId: ids?.[name] ?? wireName(name), message: problems.of({ field, problem }) }];
  });
}

export interface MessageCardProps {
  readonly icon: IconName;
  readonly heading: string;
  readonly children: ComponentChildren;
}

/** The content of a page that is only a message. */
export function MessageCard({ icon, heading, children }: MessageCardProps) {
  return (
    <div class="card card-centered">
      <div class="emblem emblem-icon">
        <Icon name={icon} />
      </div>
      <h1>{heading}</h1>
      {children}
    </div>
  );
}
