import { boolean, type ValueType } from "./value-types.ts";

/** One row of the settings table. Parsing, documentation and the list of known names are all derived from it. */
export interface Setting<T> {
  /** The name of the environment variable. */
  readonly env: string;
  /** One or two sentences, in Markdown. */
  readonly doc: string;
  readonly allowed: string;
  readonly defaultShown: string;
  /** If true, a file can provide it as well (secret-files.ts). */
  readonly mayHoldSecret: boolean;
  /** @param text the value of the environment variable; undefined: not set. */
  parse(text: string | undefined): ParsedSetting<T>;
}

export interface ParsedSetting<T> {
  readonly env: string;
  /** The default if the text was rejected; `mistake` is set then. */
  readonly value: T;
  readonly given: boolean;
  /** The value as it may be shown: never a secret. */
  readonly shown: string;
  readonly mistake: string | undefined;
}

/** The settings of one section of the documentation. */
export interface SettingGroup {
  readonly title: string;
  readonly intro: string;
  readonly settings: Readonly<Record<string, Setting<unknown>>>;
}

export type ParsedGroup<Group extends SettingGroup> = {
  readonly [Name in keyof Group["settings"]]: Group["settings"][Name] extends Setting<infer T>
    ? ParsedSetting<T>
    : never;
};

export type SettingTable = Readonly<Record<string, SettingGroup>>;

export type ParsedTable<Table extends SettingTable> = { readonly [Name in keyof Table]: ParsedGroup<Table[Name]> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Collects what is wrong with settings beyond a single value. No sentence may repeat a secret. */
export class SettingReport {
  readonly mistakes: { readonly sentence: string; readonly names: readonly string[] }[] = [];
  readonly warnings: string[] = [];
  /** Defaults that were adjusted to other settings: environment variable -> value in force. */
  readonly adjustedDefaults = new Map<string, string>();

  /** Prevents the start. @param names the settings to correct. */
  mistake(sentence: string, ...names: readonly string[]): void {
    this.mistakes.push({ sentence, names });
  }

  /** Does not prevent the start: settings that are valid, but probably not what the operator meant. */
  warn(sentence: string): void {
    this.warnings.push(sentence);
  }
}

interface Row<T> {
  readonly env: string;
  readonly doc: string;
  readonly type: ValueType<T>;
  /** When the text must not be shown. A rejected text may be anything, including a URL with a password. */
  readonly hidden?: "always" | "when_rejected";
}

/** @param row `default` is written as an operator would write it, and parsed the same way. */
export function setting<T>(row: Row<T> & { readonly default: string }): Setting<T> {
  const byDefault = row.type.parse(row.default);
  if (!byDefault.ok) throw new Error(`The default of ${row.env} is not one of its allowed values.`);
  return makeSetting(row, byDefault.value, row.default);
}

/** A setting that is on or off. */
export function switchSetting(row: Omit<Row<boolean>, "type"> & { readonly default: "true" | "false" }) {
  return setting({ ...row, type: boolean });
}

/**
 * A setting without a default.
 * @param row `unset` says in a few words what applies when it is not set; `whenUnset` is the value then, or undefined.
 */
export function optionalSetting<T, D = undefined>(
  row: Row<T> & { readonly unset: string; readonly whenUnset?: D },
): Setting<T | D> {
  // Without `whenUnset`, D is undefined.
  return makeSetting<T, D>(row, row.whenUnset as D, row.unset);
}

function makeSetting<T, D>(row: Row<T>, byDefault: D, defaultShown: string): Setting<T | D> {
  const { env, doc, type, hidden } = row;
  return {
    env,
    doc,
    allowed: type.allowed,
    defaultShown,
    mayHoldSecret: hidden !== undefined,
    parse(raw) {
      const text = raw === undefined ? "" : unquoted(raw);
      if (text === "") {
        const mistake =
          raw === undefined || type.whenEmpty === undefined ? undefined : `${env} is empty, but ${type.whenEmpty}.`;
        return { env, value: byDefault, given: false, shown: defaultShown, mistake };
      }
      const parsed = type.parse(text);
      const masked = hidden === "always" || (hidden === "when_rejected" && !parsed.ok);
      const shown = masked ? "(hidden)" : printable(text);
      if (parsed.ok) return { env, value: parsed.value, given: true, shown, mistake: undefined };
      const why = parsed.reason ?? `it must be ${type.allowed}`;
      const mistake = masked ? `${env} cannot be used: ${why}.` : `${env} is "${shown}", but ${why}.`;
      return { env, value: byDefault, given: true, shown, mistake };
    },
  };
}

/** Parses every row. A row whose text is rejected has its default and a mistake. */
export function parseSettings<Table extends SettingTable>(table: Table, environment: Environment): ParsedTable<Table> {
  const groups = Object.entries(table).map(([name, { settings }]) => {
    const rows = Object.entries(settings).map(([key, row]) => [key, row.parse(environment[row.env])] as const);
    return [name, Object.fromEntries(rows)] as const;
  });
  // The keys come from the table and each row made its own result, which the types of Object.entries cannot express.
  return Object.fromEntries(groups) as ParsedTable<Table>;
}

/** The configuration of rows that are named as its fields: a new row is a new field. */
export function valuesOf<Rows extends Readonly<Record<string, ParsedSetting<unknown>>>>(rows: Rows) {
  const values = Object.entries(rows).map(([name, { value }]) => [name, value] as const);
  // Object.fromEntries loses which name has which type.
  return Object.fromEntries(values) as { readonly [Name in keyof Rows]: Rows[Name]["value"] };
}

export function allSettings(table: SettingTable): readonly Setting<unknown>[] {
  return Object.values(table).flatMap((group) => Object.values(group.settings));
}

/** Some ways of passing an env file keep the quotes around a value; one matching pair is removed. */
export function unquoted(raw: string): string {
  const text = raw.trim();
  const [, , inner] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  return inner === undefined ? text : inner.trim();
}

const shownLength = 100;

/** On one line, truncated, and without the user and password that a URL may contain. */
export function printable(text: string): string {
  const line = text.replace(/\/\/.*@/s, "//(hidden)@").replace(/\p{C}/gu, "\u{fffd}");
  return line.length > shownLength ? `${line.slice(0, shownLength)}...` : line;
}
