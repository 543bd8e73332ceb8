import type { ComponentChildren, ComponentProps } from "preact";
import { passwordLimits } from "../../accounts/accounts.ts";
import type { Range } from "../../config/config.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { Field } from "./field.tsx";
import { ShowButton } from "./show-button.tsx";

export interface InputFieldProps {
  readonly id: string;
  /** In the form that is sent; the same as `id` where it is not given. */
  readonly name?: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  /** It takes the focus where scripts run. */
  readonly focus?: boolean;
}

interface InputProps extends InputFieldProps {
  /** Without it the field is never filled in by us. */
  readonly value?: string;
  /** Its type, and what else the browser is told. */
  readonly input: ComponentProps<"input">;
  /** Buttons at its end. */
  readonly beside?: ComponentChildren;
}

/** No maxlength anywhere: a browser would cut what is pasted without a word. */
export function InputField({ name, value, focus = false, input, beside, ...field }: InputProps) {
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
        if (beside === undefined) return control;
        return (
          <div class="input-row">
            {control}
            {beside}
          </div>
        );
      }}
    />
  );
}

export interface TextFieldProps extends InputFieldProps {
  readonly value: string;
  readonly required?: boolean;
  readonly placeholder?: string;
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

export interface EmailFieldProps extends Omit<InputFieldProps, "id" | "name"> {
  /** As typed, when the form is sent back. */
  readonly value: string;
  /** "username": the one that somebody signs in with. */
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

/** For the password that somebody has; never filled in by us. */
export function PasswordField(field: InputFieldProps) {
  return (
    <InputField
      {...field}
      input={{ type: "password", dir: "auto", required: true, autoComplete: "current-password" }}
    />
  );
}

export interface NewPasswordFieldProps extends Omit<InputFieldProps, "name" | "hint"> {
  readonly messages: Messages;
}

/** Named `password`. What is too long the server says. */
export function NewPasswordField({ messages, ...field }: NewPasswordFieldProps) {
  const { min } = passwordLimits;
  return (
    <InputField
      {...field}
      name="password"
      hint={messages.entry.fields.passwordHint({ min })}
      input={{ type: "password", dir: "auto", required: true, minLength: min, autoComplete: "new-password" }}
      beside={<ShowButton messages={messages} of={field.id} />}
    />
  );
}

export interface CodeFieldProps extends InputFieldProps {
  /** "digits": as an authenticator app shows them. */
  readonly of: "digits" | "letters and digits";
}

/** For a code that somebody types off; never filled in by us. */
export function CodeField({ of, ...field }: CodeFieldProps) {
  const typing =
    of === "digits"
      ? ({ inputMode: "numeric", autoComplete: "one-time-code" } as const)
      : ({ autoCapitalize: "none", autoComplete: "off", spellcheck: false } as const);
  return (
    <InputField {...field} input={{ type: "text", class: "input input-code", dir: "ltr", required: true, ...typing }} />
  );
}

export interface NumberFieldProps extends InputFieldProps {
  readonly range: Pick<Range, "min" | "max">;
  /** As typed. */
  readonly value: string;
  readonly required?: boolean;
  readonly placeholder?: string;
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
