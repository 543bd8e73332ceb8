import type { ValueType } from "./value-type.ts";

export interface ParsedSetting<T> {
  readonly env: string;
  /** The default's when the text was refused: then `mistake` says so. */
  readonly value: T;
  readonly given: boolean;
  /** What may be shown of it: never a secret. */
  readonly shown: string;
  readonly mistake: string | undefined;
}

/** One row of the settings table. */
export interface Setting<T> {
  /** The name of the environment variable. */
  readonly env: string;
  /** One or two sentences, in Markdown. */
  readonly doc: string;
  readonly allowed: string;
  readonly defaultShown: string;
  /** Then a file can give it too (secret-files.ts). */
  readonly mayHoldSecret: boolean;
  /** @param text as it stands in the environment; undefined and empty both mean "not given". */
  read(text: string | undefined): ParsedSetting<T>;
}

interface Row<T> {
  readonly env: string;
  readonly doc: string;
  readonly type: ValueType<T>;
  /** When the text must not be shown. A text that is refused may be anything, a password in an address included. */
  readonly hidden?: "always" | "when_refused";
}

/** @param row `default` is written as an operator would write it, and read the same way. */
export function setting<T>(row: Row<T> & { readonly default: string }): Setting<T> {
  const byDefault = row.type.parse(row.default);
  if (!byDefault.ok) throw new Error(`The default of ${row.env} is not one of its allowed values.`);
  return makeSetting(row, byDefault.value, row.default);
}

/** A setting without a default. @param row `unset` says in a few messages what holds when it is not given. */
export function optionalSetting<T>(row: Row<T> & { readonly unset: string }): Setting<T | undefined> {
  return makeSetting<T, undefined>(row, undefined, row.unset);
}

function makeSetting<T, D>(row: Row<T>, byDefault: D, defaultShown: string): Setting<T | D> {
  const { env, doc, type, hidden } = row;
  return {
    env,
    doc,
    allowed: type.allowed,
    defaultShown,
    mayHoldSecret: hidden !== undefined,
    read(raw) {
      const text = raw === undefined ? "" : unquoted(raw);
      if (text === "") return { env, value: byDefault, given: false, shown: defaultShown, mistake: undefined };
      const parsed = type.parse(text);
      const concealed = hidden === "always" || (hidden === "when_refused" && !parsed.ok);
      const shown = concealed ? "(hidden)" : printable(text);
      if (parsed.ok) return { env, value: parsed.value, given: true, shown, mistake: undefined };
      const why = parsed.reason ?? `it must be ${type.allowed}`;
      const mistake = concealed ? `${env} cannot be used: ${why}.` : `${env} is "${shown}", but ${why}.`;
      return { env, value: byDefault, given: true, shown, mistake };
    },
  };
}

/** Some ways of passing an env file leave the quotes around a value; one matching pair is dropped. */
function unquoted(raw: string): string {
  const text = raw.trim();
  const [, , inner] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  return inner === undefined ? text : inner.trim();
}

const shownLength = 100;

/** On one line, cut, without the user and password that an address may carry. */
export function printable(text: string): string {
  const line = text.replace(/\/\/.*@/s, "//(hidden)@").replace(/\p{C}/gu, "\u{fffd}");
  return line.length > shownLength ? `${line.slice(0, shownLength)}...` : line;
}
