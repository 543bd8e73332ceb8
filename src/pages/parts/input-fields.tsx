import type { ComponentChildren } from "preact";
import { passwordLimits } from "../../accounts/accounts.ts";
import type { Range } from "../../config/config.ts";
import type { Words } from "../../words/words.ts";
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

const focusMark = (focus: boolean | undefined) => (focus === true ? true : undefined);

export interface TextFieldProps extends InputFieldProps {
  readonly value: string;
  readonly required?: boolean;
  readonly placeholder?: string;
}

/** One line in any language. No maxlength: a browser would cut what is pasted without a word. */
export function TextField({ name, value, required = false, placeholder, focus, ...field }: TextFieldProps) {
  return (
    <Field
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          class="input"
          type="text"
          name={name ?? attributes.id}
          value={value}
          placeholder={placeholder}
          dir="auto"
          required={required}
          autoComplete="off"
          data-focus={focusMark(focus)}
        />
      )}
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
export function EmailField({ value, autoComplete, focus, ...field }: EmailFieldProps) {
  return (
    <Field
      id="email"
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          class="input"
          type="email"
          name="email"
          value={value}
          dir="ltr"
          required
          autoComplete={autoComplete}
          data-focus={focusMark(focus)}
        />
      )}
    />
  );
}

/** For the password that somebody has; never filled in by us. */
export function PasswordField({ name, focus, ...field }: InputFieldProps) {
  return (
    <Field
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          class="input"
          type="password"
          name={name ?? attributes.id}
          dir="auto"
          required
          autoComplete="current-password"
          data-focus={focusMark(focus)}
        />
      )}
    />
  );
}

export interface NewPasswordFieldProps extends Omit<InputFieldProps, "name" | "hint"> {
  readonly words: Words;
}

/** Named `password`. Nothing cuts off what is too long: the server says so. */
export function NewPasswordField({ words, focus, ...field }: NewPasswordFieldProps) {
  return (
    <Field
      {...field}
      hint={words.entry.fields.passwordHint({ min: passwordLimits.min })}
      control={(attributes) => (
        <div class="input-row">
          <input
            {...attributes}
            class="input"
            type="password"
            name="password"
            dir="auto"
            required
            minLength={passwordLimits.min}
            autoComplete="new-password"
            data-focus={focusMark(focus)}
          />
          <ShowButton words={words} of={attributes.id} />
        </div>
      )}
    />
  );
}

export interface CodeFieldProps extends InputFieldProps {
  /** "digits": as an authenticator app shows them. */
  readonly of: "digits" | "letters and digits";
}

/** For a code that somebody types off; never filled in by us. */
export function CodeField({ name, of, focus, ...field }: CodeFieldProps) {
  const typing =
    of === "digits"
      ? ({ inputMode: "numeric", autoComplete: "one-time-code" } as const)
      : ({ autoCapitalize: "none", autoComplete: "off", spellcheck: false } as const);
  return (
    <Field
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          {...typing}
          class="input input-code"
          type="text"
          name={name ?? attributes.id}
          dir="ltr"
          required
          data-focus={focusMark(focus)}
        />
      )}
    />
  );
}

export interface NumberFieldProps extends Omit<InputFieldProps, "focus"> {
  readonly range: Pick<Range, "min" | "max">;
  /** As typed. */
  readonly value: string;
  readonly required?: boolean;
  readonly placeholder?: string;
}

/** For a whole number. */
export function NumberField({ name, range, value, required = false, placeholder, ...field }: NumberFieldProps) {
  return (
    <Field
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          class="input"
          type="number"
          inputMode="numeric"
          name={name ?? attributes.id}
          value={value}
          min={range.min}
          max={range.max}
          step={1}
          required={required}
          placeholder={placeholder}
        />
      )}
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
