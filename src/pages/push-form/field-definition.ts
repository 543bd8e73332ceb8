import type { VNode } from "preact";
import type { Messages } from "../../i18n/i18n.ts";
import type { ControlProps, PushForm, SentFields } from "./form.ts";

/** Fields that a form draws together; the forms of a new push and of an edit order them differently. */
export type FieldGroup =
  | "kind"
  | "currentPassphrase"
  | "payload"
  | "files"
  | "limits"
  | "passphrase"
  | "options"
  | "sender"
  | "labels"
  | "mail";

interface FieldBase {
  readonly group: FieldGroup;
  /** Absent: both forms. */
  readonly only?: "new" | "edit";
  /** Absent: always. */
  readonly isOffered?: (form: PushForm) => boolean;
  /** The label of the control; the summary of problems names the field by it. */
  readonly label: (form: PushForm, messages: Messages) => string;
  /** Shown at the control when the domain refuses the value. @param found what the domain says, for clients of the API. */
  readonly problem: (form: PushForm, messages: Messages, found: readonly string[]) => string;
  /** What the folded group says where the field is set; `{count}` is the number of addresses in it. */
  readonly whenSet?: (messages: Messages) => string;
}

export interface TextDefinition extends FieldBase {
  readonly type: "text";
  /** The value in a form that nobody has touched, or that was sent without this field. */
  readonly initial: (form: PushForm, sent: SentFields) => string;
  readonly control: (props: ControlProps) => VNode;
}

export interface BoxDefinition extends FieldBase {
  readonly type: "box";
  readonly initial: (form: PushForm, sent: SentFields) => boolean;
  readonly hint: (form: PushForm, messages: Messages) => string;
}

/** A field without a value that could be shown again. */
export interface BareDefinition extends FieldBase {
  readonly type: "bare";
  readonly control: (props: ControlProps) => VNode | null;
}

export const text = (field: Omit<TextDefinition, "type">): TextDefinition => ({ type: "text", ...field });
export const box = (field: Omit<BoxDefinition, "type">): BoxDefinition => ({ type: "box", ...field });
export const bare = (field: Omit<BareDefinition, "type">): BareDefinition => ({ type: "bare", ...field });
