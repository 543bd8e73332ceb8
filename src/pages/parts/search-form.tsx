import type { ComponentChildren } from "preact";
import { usePage } from "../page.ts";
import { Submit } from "./buttons.tsx";

export interface SearchFormProps {
  readonly action: string;
  readonly submit: string;
  readonly children: ComponentChildren;
}

/** Sent by GET, so that every result has an address. */
export function SearchForm({ action, submit, children }: SearchFormProps) {
  const page = usePage();
  return (
    <search>
      <form class="input-row" method="get" action={action}>
        {page.localeAsked && <input type="hidden" name="locale" value={page.messages.locale.tag} />}
        {children}
        <Submit label={submit} icon="search" look="plain" />
      </form>
    </search>
  );
}

export interface SearchBoxProps {
  /** It is the id too. */
  readonly name: string;
  readonly label: string;
  /** The placeholder; the label by default. */
  readonly hint?: string;
  readonly value: string;
  readonly maxLength?: number;
}

export function SearchBox({ name, label, hint = label, value, maxLength }: SearchBoxProps) {
  return (
    <>
      <label class="visually-hidden" for={name}>
        {label}
      </label>
      <input
        class="input"
        id={name}
        type="search"
        name={name}
        value={value}
        placeholder={hint}
        maxLength={maxLength}
        dir="auto"
        autoComplete="off"
      />
    </>
  );
}

export interface SearchChoiceProps {
  /** It is the id too. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function SearchChoice({ name, label, value, options }: SearchChoiceProps) {
  return (
    <>
      <label class="visually-hidden" for={name}>
        {label}
      </label>
      <select class="input" id={name} name={name}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    </>
  );
}
