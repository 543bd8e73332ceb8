import { dayMs, minuteMs } from "../../base/clock.ts";
import type { FieldProblems } from "../../base/errors.ts";
import { wireName } from "../../http/errors.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { codePointsUpTo, isSealedLabel, nameUnusableFile, type PushOption, pushLimits } from "../../pushes/pushes.ts";
import { type PageContext, useMessages } from "../page.ts";
import { Checkbox, InputField, TextAreaField, TextField } from "../parts/fields.tsx";
import type { FieldProblem } from "../parts/notice.tsx";
import type { FormState } from "../take-form.ts";
import {
  ExpiryControl,
  FilesControl,
  initialDuration,
  MailLanguageField,
  offersDays,
  PassphraseField,
  PayloadControl,
  RangeControl,
  RecipientsField,
} from "./controls.tsx";
import {
  type BareDefinition,
  type BoxDefinition,
  bare,
  box,
  type FieldGroup,
  type TextDefinition,
  text,
} from "./field-definition.ts";
import { FieldsControl } from "./field-editor.tsx";
import { type PushForm, type SentFields, textIn } from "./form.ts";
import { optionFields, optionNames } from "./options.ts";
import { ruleHint, said, sentences } from "./rule-hints.ts";

/** Each option of a push is a box. */
const optionBoxes = Object.fromEntries(
  optionNames.map((option) => {
    const { label, initial, ...field } = optionFields[option];
    return [
      option,
      box({
        ...field,
        label: (_, messages) => label(messages),
        initial: (form, sent) => form.edited?.push[option] ?? initial(form, sent),
      }),
    ];
  }),
) as Readonly<Record<PushOption, BoxDefinition>>;

/**
 * Every field of the form that makes or edits a push, by the domain's name. A field's `push[...]` name and its id follow
 * from the name; `http/push-fields.ts` reads the values.
 */
const pushFields = {
  kind: bare({
    group: "kind",
    only: "new",
    label: (_, { kinds }) => kinds.label,
    problem: (_, { problems }) => problems.kind,
    control: () => null,
  }),
  currentPassphrase: text({
    group: "currentPassphrase",
    only: "edit",
    isOffered: isProtected,
    initial: () => "",
    label: (_, { edit }) => edit.currentPassphrase,
    problem: ({ limits }, { problems }) => problems.tooLong({ max: limits.passphraseCharactersMax }),
    // Never sent back: it is typed anew for each attempt.
    control: ({ field }) => <PassphraseField {...field} hint={useMessages().edit.currentPassphraseHint} value="" />,
  }),
  payload: text({
    group: "payload",
    initial: () => "",
    label: ({ kind, edited }, { edit, newPush }) => (edited === null ? newPush.payload : edit.newContent)[kind],
    problem: ({ kind, limits }, { problems }) => {
      const bounds = { max: limits.payloadCharactersMax };
      if (kind === "url") return problems.url(bounds);
      return kind === "file" ? problems.tooLong(bounds) : problems.payload(bounds);
    },
    control: PayloadControl,
  }),
  fields: text({
    group: "payload",
    only: "new",
    isOffered: ({ kind }) => kind === "text",
    initial: () => "",
    label: (_, { newPush }) => newPush.fields.add,
    problem: (_, { newPush }) => newPush.fields.problem,
    control: FieldsControl,
  }),
  removeMessage: box({
    group: "payload",
    only: "edit",
    isOffered: ({ kind }) => kind === "file",
    initial: () => false,
    label: (_, { edit }) => edit.removeMessage,
    hint: (_, { edit }) => edit.removeMessageHint,
    problem: (_, { problems }) => problems.field,
  }),
  files: bare({
    group: "files",
    isOffered: mayHaveFiles,
    label: ({ edited }, { edit, newPush }) => (edited === null ? newPush.files : edit.addFiles),
    problem: ({ edited, limits }, { edit, problems }, found) => {
      if (nameUnusableFile(found)) return problems.filesUnusable;
      const bounds = { count: limits.maxFileUploads };
      return edited === null ? problems.files(bounds) : edit.filesProblem(bounds);
    },
    control: FilesControl,
  }),
  /** A code of `expire_after_duration`; "": the days of the next field; `exactEnd`: the instant after that. */
  expireAfterDuration: text({
    group: "limits",
    only: "new",
    initial: (form, sent) => (textIn(sent, "expire_after_days") === undefined ? initialDuration(form) : ""),
    label: (_, { newPush }) => newPush.expiry,
    problem: daysProblem,
    control: ExpiryControl,
  }),
  expireAfterDays: text({
    group: "limits",
    initial: ({ settings }) => String(settings.days.default),
    label: (_, { newPush }) => newPush.days,
    isOffered: offersDays,
    problem: daysProblem,
    control: (props) => (
      <RangeControl
        {...props}
        range={props.form.settings.days}
        // A new push says it at the choice before this one.
        rule={props.form.edited === null ? null : "expireAfterDays"}
      />
    ),
  }),
  /** As the browser's control sends it, in the zone of the next field; "": the days count. */
  expiresAt: text({
    group: "limits",
    only: "new",
    initial: () => "",
    label: (_, { newPush }) => newPush.expiresAt,
    problem: ({ settings: { days }, policy }, { problems, formats }) => {
      const maxMinutes = Math.min(days.max * (dayMs / minuteMs), policy.maxMinutes ?? Infinity);
      return problems.expiresAt({ time: formats.timeSpan(maxMinutes) });
    },
    control: ({ field }) => <InputField {...field} input={{ type: "datetime-local" }} />,
  }),
  timeZone: text({
    group: "limits",
    only: "new",
    initial: () => "",
    label: (_, { newPush }) => newPush.timeZone,
    problem: (_, { problems }) => problems.timeZone,
    control: ({ field }) => (
      <InputField {...field} input={{ type: "text", dir: "ltr", placeholder: "UTC", spellcheck: false }} />
    ),
  }),
  expireAfterViews: text({
    group: "limits",
    initial: ({ settings }) => String(settings.views.default),
    label: (_, { newPush }) => newPush.views,
    problem: ({ settings: { views }, policy }, messages) =>
      said(messages.problems.range({ min: views.min, max: views.max }), ruleHint("expireAfterViews", policy, messages)),
    control: (props) => <RangeControl {...props} range={props.form.settings.views} rule="expireAfterViews" />,
  }),
  passphrase: text({
    group: "passphrase",
    initial: () => "",
    label: (form, { edit, newPush }) => (isProtected(form) ? edit.newPassphrase : newPush.passphrase),
    problem: ({ limits, policy }, messages) =>
      ruleHint("passphrase", policy, messages) || messages.problems.tooLong({ max: limits.passphraseCharactersMax }),
    control: ({ field, form }) => {
      const messages = useMessages();
      const { edit, newPush } = messages;
      const isRequired = form.edited === null && form.policy.passphraseRequired;
      return (
        <PassphraseField
          {...field}
          hint={sentences(
            isProtected(form) ? edit.newPassphraseHint : newPush.passphraseHint,
            ruleHint("passphrase", form.policy, messages),
          )}
          placeholder={isRequired ? undefined : newPush.optional}
          required={isRequired}
          minLength={form.policy.passphraseMinLength || undefined}
          suggest
        />
      );
    },
  }),
  removePassphrase: box({
    group: "passphrase",
    only: "edit",
    isOffered: isProtected,
    initial: () => false,
    label: (_, { edit }) => edit.removePassphrase,
    hint: (_, { edit }) => edit.removePassphraseHint,
    problem: (_, { problems }) => problems.field,
  }),
  name: text({
    group: "labels",
    isOffered: hasReadableLabels,
    initial: ({ edited }) => edited?.push.name ?? "",
    label: (_, { newPush }) => newPush.name,
    whenSet: ({ newPush }) => newPush.set.name,
    problem: ({ limits }, { problems }) => problems.tooLong({ max: limits.nameCharactersMax }),
    control: ({ field }) => <TextField {...field} />,
  }),
  note: text({
    group: "labels",
    isOffered: hasReadableLabels,
    initial: ({ edited }) => edited?.push.note ?? "",
    label: (_, { newPush }) => newPush.note,
    whenSet: ({ newPush }) => newPush.set.note,
    problem: ({ limits }, { problems }) => problems.tooLong({ max: limits.noteCharactersMax }),
    control: ({ field }) => <TextAreaField {...field} rows={2} />,
  }),
  notifyEmailsTo: text({
    group: "mail",
    only: "new",
    isOffered: ({ mails }) => mails.links,
    initial: () => "",
    label: (_, { pushEmails }) => pushEmails.to,
    whenSet: ({ newPush }) => newPush.set.mail({ count: "{count}" }),
    problem: ({ limits, policy }, messages) =>
      said(recipientsProblem(limits, messages), ruleHint("notifyEmailsTo", policy, messages)),
    control: ({ field, form }) => (
      <RecipientsField {...field} limits={form.limits} rule={ruleHint("notifyEmailsTo", form.policy, useMessages())} />
    ),
  }),
  notifyEmailsToLocale: text({
    group: "mail",
    only: "new",
    isOffered: ({ mails }) => mails.links,
    initial: ({ locale }) => locale,
    label: (_, { pushEmails }) => pushEmails.locale,
    problem: (_, { problems }) => problems.field,
    control: ({ field }) => <MailLanguageField {...field} />,
  }),
  ...optionBoxes,
};

type Fields = typeof pushFields;
export type FieldName = keyof Fields;
type Named<Definition> = { [Name in FieldName]: Fields[Name] extends Definition ? Name : never }[FieldName];

/** What a person typed, unchanged: a form that is sent back shows all of it again. */
export type PushValues = Readonly<Record<Named<TextDefinition>, string> & Record<Named<BoxDefinition>, boolean>>;

/** One sentence a field, in the language of the page. */
export type PushProblems = FormState<FieldName>["problems"];

export interface FilledForm extends PushForm {
  readonly values: PushValues;
  readonly problems: PushProblems;
}

const definitions = Object.entries(pushFields) as [FieldName, TextDefinition | BoxDefinition | BareDefinition][];

/**
 * More than all valid fields together. Rendering a text of markup takes 50 ms for each million characters, so a text beyond
 * this is not sent back; the browser's Back button still has it.
 */
const sentBackCharactersMax = pushLimits.payloadCharacters.text.max + 2 * pushLimits.noteCharactersMax;

function daysProblem(form: PushForm, messages: Messages): string {
  const { min, max } = form.settings.days;
  const range = offersDays(form) ? messages.problems.range({ min, max }) : "";
  return said(range, ruleHint("expireAfterDays", form.policy, messages));
}

/** What was sent; for fields that were not sent, the initial value. */
export function valuesOf(form: PushForm, sent: SentFields = {}): PushValues {
  let left = sentBackCharactersMax;
  const values = definitions.flatMap(([name, field]) => {
    if (field.type === "bare") return [];
    const typed = textIn(sent, wireName(name));
    if (typed === undefined) return [[name, field.initial(form, sent)]];
    if (field.type === "box") return [[name, typed === "1"]];
    const characters = codePointsUpTo(left + 1, typed);
    if (characters > left) return [[name, ""]];
    left -= characters;
    return [[name, typed]];
  });
  return Object.fromEntries(values) as PushValues;
}

/** The fields that a new push can have and that an edit can change. */
export function editableFields(sent: SentFields): SentFields {
  const both = definitions.filter(([, { type, only }]) => type !== "bare" && only === undefined);
  return Object.fromEntries(both.map(([name]) => [wireName(name), sent[wireName(name)]]));
}

/** A value of `push[...]` that the form has no control for. */
export interface HiddenField {
  readonly name: string;
  readonly value: string;
}

/** What only owners can set: labels, emails, and whether recipients see the address. */
export function ownersFields(sent: SentFields): readonly HiddenField[] {
  return (["sender", "labels", "mail"] as const).flatMap((group) => hiddenFieldsOf(group, sent));
}

/** The fields of a group, for a form that has no controls for them. */
export function hiddenFieldsOf(group: FieldGroup, sent: SentFields): readonly HiddenField[] {
  const fields = definitions.filter(([, field]) => field.group === group);
  return fields.flatMap(([name]) => {
    const value = textIn(sent, wireName(name));
    return value === undefined ? [] : [{ name: wireName(name), value }];
  });
}

/** The domain's problems as sentences. The form of an edit has no tabs: it shows a problem with the kind at the payload. */
export function describeProblems(found: FieldProblems, form: PushForm, messages: Messages): PushProblems {
  const described: Partial<Record<FieldName, string>> = Object.fromEntries(
    definitions.flatMap(([name, field]) => {
      const refused = found[name];
      return refused === undefined ? [] : [[name, field.problem(form, messages, refused)] as const];
    }),
  );
  const { kind, ...problems } = described;
  if (form.edited === null || kind === undefined) return described;
  return { ...problems, payload: kind };
}

/** The files of a push have more bytes than one push may have. */
export function filesTooLarge({ limits }: PushForm, { problems, formats }: Messages): PushProblems {
  return { files: problems.filesTooLarge({ size: formats.bytes(limits.pushBytesMax) }) };
}

export function recipientsProblem(
  limits: Pick<PushForm["limits"], "recipientsMax" | "recipientsDailyMax">,
  { pushEmails }: Messages,
): string {
  return pushEmails.toProblem({ count: limits.recipientsMax, daily: limits.recipientsDailyMax });
}

/** File pushes have files, and an edited push of another kind may have some: its form offers to choose lost ones again. */
export function mayHaveFiles({ kind, edited, filesLost }: Pick<PushForm, "kind" | "edited" | "filesLost">): boolean {
  return kind === "file" || (edited !== null && (edited.files.length > 0 || filesLost));
}

/** False: they were sealed in a browser, and the server can neither show nor change them. */
export function hasReadableLabels({ edited }: Pick<PushForm, "edited">): boolean {
  return edited === null || ![edited.push.name, edited.push.note].some(isSealedLabel);
}

function isProtected({ edited }: PushForm): boolean {
  return edited?.push.passphraseRequired ?? false;
}

function fieldsIn(group: FieldGroup, form: PushForm): typeof definitions {
  const other = form.edited === null ? "edit" : "new";
  return definitions.filter(([, field]) => field.group === group && field.only !== other);
}

/** The order of both forms' problems: `groups` in the order of the form. */
export function summaryOf(
  groups: readonly FieldGroup[],
  form: FilledForm,
  { messages }: PageContext,
): readonly FieldProblem[] {
  const fields = groups.flatMap((group) => fieldsIn(group, form));
  return fields.flatMap(([name, field]) => {
    const problem = form.problems[name];
    if (problem === undefined) return [];
    const message = messages.problems.of({ field: field.label(form, messages), problem });
    return [{ fieldId: idOf(name), message }];
  });
}

function idOf(name: FieldName): string {
  return name === "kind" ? "push_kinds" : `push_${wireName(name)}`;
}

export function HiddenFields({ fields }: { readonly fields: readonly HiddenField[] }) {
  return (
    <>
      {fields.map(({ name, value }) => (
        <input key={name} type="hidden" name={`push[${name}]`} value={value} />
      ))}
    </>
  );
}

export interface FormProps {
  readonly form: FilledForm;
}

/** The controls of one group, without a frame. */
export function Controls({ group, form }: FormProps & { readonly group: FieldGroup }) {
  const messages = useMessages();
  const offered = fieldsIn(group, form).filter(([, field]) => field.isOffered?.(form) ?? true);
  return (
    <>
      {offered.map(([name, field]) => {
        const id = idOf(name);
        const wire = `push[${wireName(name)}]`;
        const label = field.label(form, messages);
        const value = name in form.values ? form.values[name as keyof PushValues] : "";
        if (field.type === "box") {
          const hint = field.hint(form, messages);
          return <Checkbox key={id} id={id} name={wire} label={label} hint={hint} checked={value === true} />;
        }
        const { control: Control } = field;
        const text = typeof value === "string" ? value : "";
        const problem = form.problems[name];
        return <Control key={id} field={{ id, name: wire, label, value: text, problem }} form={form} />;
      })}
    </>
  );
}

export function offersAny(group: FieldGroup, form: PushForm): boolean {
  return fieldsIn(group, form).some(([, field]) => field.isOffered?.(form) ?? true);
}

/** What a group says where a field of it is set, and how many values the field has; none: 0. */
export function setIn(groups: readonly FieldGroup[], form: FilledForm, { messages }: PageContext) {
  const fields = groups.flatMap((group) => fieldsIn(group, form));
  return fields.flatMap(([name, { isOffered, whenSet }]) => {
    if (whenSet === undefined || isOffered?.(form) === false) return [];
    const value = form.values[name as keyof PushValues];
    const count =
      name === "notifyEmailsTo" ? addressesIn(form.values.notifyEmailsTo) : Number(value !== "" && value !== false);
    return [{ id: idOf(name), text: whenSet(messages), count }];
  });
}

function addressesIn(typed: string): number {
  return typed.split(",").filter((address) => address.trim() !== "").length;
}
