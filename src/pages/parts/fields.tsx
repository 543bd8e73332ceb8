import type { ComponentChildren, ComponentProps } from "preact";
import { passwordLimits } from "../../accounts/accounts.ts";
import type { Range } from "../../config/config.ts";
import { wireName } from "../../http/errors.ts";
import { useMessages } from "../page.ts";
import { ShowButton } from "./buttons.tsx";
import { keepFirstLineEnd } from "./exact-text.tsx";
import { LongText } from "./long-text.tsx";

export interface ControlAttributes {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

export interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  /** For a passphrase that only the browser checks: a script shows it. */
  readonly wrongPassphrase?: string;
  /** A button at the end of the label's line. */
  readonly besideLabel?: ComponentChildren;
  /** Renders the control with the attributes that connect it to its label, hint and problem. */
  readonly control: (attributes: ControlAttributes) => ComponentChildren;
}

/** A labelled control with its hint and its problem. */
export function Field({ id, label, hint, problem, wrongPassphrase, besideLabel, control }: FieldProps) {
  const labelled = (
    <label class="field-label" for={id}>
      {label}
    </label>
  );
  const described = [hint === undefined ? "" : `${id}_hint`, problem === undefined ? "" : `${id}_problem`];
  return (
    <div class={problem === undefined ? "field" : "field field-invalid"}>
      {besideLabel === undefined ? (
        labelled
      ) : (
        <div class="field-head">
          {labelled}
          {besideLabel}
        </div>
      )}
      {hint !== undefined && (
        <p class="field-hint" id={`${id}_hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="field-problem" id={`${id}_problem`}>
          {problem}
        </p>
      )}
      {wrongPassphrase !== undefined && (
        <p class="field-problem" role="alert" hidden data-wrong-passphrase>
          {wrongPassphrase}
        </p>
      )}
      {control({
        id,
        "aria-describedby": described.join(" ").trim() || undefined,
        "aria-invalid": problem === undefined ? undefined : "true",
      })}
    </div>
  );
}

export interface CheckboxProps {
  readonly id: string;
  /** `id` by default. */
  readonly name?: string;
  readonly label: string;
  readonly hint: string;
  readonly checked: boolean;
}

/** The hidden field sends the unchecked state too: otherwise "no" and "not on the form" would be the same. */
export function Checkbox({ id, name = id, label, hint, checked }: CheckboxProps) {
  return (
    <div class="checkbox">
      <input type="hidden" name={name} value="0" />
      <input type="checkbox" id={id} name={name} value="1" checked={checked} aria-describedby={`${id}_hint`} />
      <div>
        <label for={id}>{label}</label>
        <p class="field-hint" id={`${id}_hint`}>
          {hint}
        </p>
      </div>
    </div>
  );
}

export interface InputFieldProps {
  readonly id: string;
  /** `id` by default. */
  readonly name?: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  readonly wrongPassphrase?: string;
  /** Takes the focus where scripts run. */
  readonly focus?: boolean;
}

/** What the fields of a form have by their names: an id, a label, what was typed and what is wrong with it. */
export function fieldsOf<Name extends string>(
  labels: Readonly<Record<Name, string>>,
  typed: Readonly<Partial<Record<NoInfer<Name>, unknown>>>,
  problems: Readonly<Partial<Record<NoInfer<Name>, string | undefined>>>,
) {
  return (name: Name) => ({
    id: wireName(name),
    label: labels[name],
    value: String(typed[name] ?? ""),
    problem: problems[name],
  });
}

interface InputProps extends InputFieldProps {
  /** Without it the field is empty. */
  readonly value?: string;
  /** Its type and further attributes. */
  readonly input: ComponentProps<"input">;
  /** A button within the borders of the input. */
  readonly inside?: ComponentChildren;
  readonly besideLabel?: ComponentChildren;
}

/** Never with a maxlength: a browser would silently cut pasted text. */
export function InputField({ name, value, focus = false, input, inside, ...field }: InputProps) {
  return (
    <Field
      {...field}
      control={(attributes) => {
        const control = (
          <input
            class="input"
            {...attributes}
            {...input}
            name={name ?? attributes.id}
            value={value}
            data-focus={focus ? true : undefined}
          />
        );
        if (inside === undefined) return control;
        return (
          <div class="input-with-button">
            {control}
            {inside}
          </div>
        );
      }}
    />
  );
}

export interface TextFieldProps extends InputFieldProps {
  /** As typed. */
  readonly value: string;
  readonly required?: boolean;
  readonly placeholder?: string | undefined;
}

/** One line in any language. */
export function TextField({ value, required = false, placeholder, ...field }: TextFieldProps) {
  return (
    <InputField
      {...field}
      value={value}
      input={{ type: "text", placeholder, dir: "auto", required, autoComplete: "off" }}
    />
  );
}

export interface TextAreaFieldProps extends InputFieldProps {
  readonly value: string;
  readonly besideLabel?: ComponentChildren;
  readonly rows: number;
  readonly placeholder?: string | undefined;
  /** Further attributes. */
  readonly area?: ComponentProps<"textarea">;
}

/** Lines in any language. */
export function TextAreaField({ name, value, rows, placeholder, focus = false, area, ...field }: TextAreaFieldProps) {
  return (
    <Field
      {...field}
      control={(attributes) => (
        <textarea
          {...attributes}
          class="input"
          name={name ?? attributes.id}
          rows={rows}
          placeholder={placeholder}
          dir="auto"
          {...area}
          data-focus={focus ? true : undefined}
        >
          <LongText text={keepFirstLineEnd(value)} />
        </textarea>
      )}
    />
  );
}

export interface EmailFieldProps extends Omit<InputFieldProps, "id" | "name"> {
  /** As typed, when the form is sent back. */
  readonly value: string;
  /** "username": the address for signing in. */
  readonly autoComplete: "username" | "email";
}

/** Named `email`. */
export function EmailField({ value, autoComplete, ...field }: EmailFieldProps) {
  return (
    <InputField
      {...field}
      id="email"
      value={value}
      input={{ type: "email", dir: "ltr", required: true, autoComplete }}
    />
  );
}

/** For the current password of an account; always empty. */
export function PasswordField(field: InputFieldProps) {
  return (
    <InputField
      {...field}
      input={{ type: "password", dir: "auto", required: true, autoComplete: "current-password" }}
      inside={<ShowButton of={field.id} />}
    />
  );
}

/** Named `password`. The server checks the maximum length. */
export function NewPasswordField(field: Omit<InputFieldProps, "name" | "hint">) {
  const { fields } = useMessages().entry;
  const { min } = passwordLimits;
  return (
    <InputField
      {...field}
      name="password"
      hint={fields.passwordHint({ min })}
      input={{ type: "password", dir: "auto", required: true, minLength: min, autoComplete: "new-password" }}
      inside={<ShowButton of={field.id} />}
    />
  );
}

export interface CodeFieldProps extends InputFieldProps {
  /** "digits": from an authenticator app. */
  readonly of: "digits" | "letters and digits";
}

/** For a code of a second factor; always empty. */
export function CodeField({ of, ...field }: CodeFieldProps) {
  const typing =
    of === "digits"
      ? ({ inputMode: "numeric", autoComplete: "one-time-code" } as const)
      : ({ autoCapitalize: "none", autoComplete: "off", spellcheck: false } as const);
  return (
    <InputField {...field} input={{ type: "text", class: "input input-code", dir: "ltr", required: true, ...typing }} />
  );
}

export interface NumberFieldProps extends TextFieldProps {
  readonly range: Pick<Range, "min" | "max">;
}

/** For a whole number. */
export function NumberField({ range: { min, max }, value, required = false, placeholder, ...field }: NumberFieldProps) {
  return (
    <InputField
      {...field}
      value={value}
      input={{ type: "number", inputMode: "numeric", min, max, step: 1, required, placeholder }}
    />
  );
}

export interface SelectFieldProps extends Omit<InputFieldProps, "focus"> {
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string; readonly lang?: string }[];
}

export function SelectField({ name, value, options, ...field }: SelectFieldProps) {
  return (
    <Field
      {...field}
      control={(attributes) => (
        <select {...attributes} class="input" name={name ?? attributes.id}>
          {options.map((option) => (
            <option key={option.value} value={option.value} lang={option.lang} selected={option.value === value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    />
  );
}
