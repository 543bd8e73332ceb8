import { type KindDefaults, noDefaults, type PushDefaults } from "../../accounts/accounts.ts";
import { type KindName, kindNames } from "../../base/push-kinds.ts";
import type { Config, KindSettings } from "../../config/config.ts";
import { type KindOption, kindOptions } from "../../config/topics/kinds.ts";
import { type FormFields, textOf } from "../../http/body/form-fields.ts";
import { type WireName, wireName } from "../../http/errors.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { enabledKinds } from "../push-form/form.ts";
import { optionFields } from "../push-form/options.ts";

/** The numbers of a kind, and the names of their defaults. */
const numbers = { days: "expireAfterDays", views: "expireAfterViews" } as const;
export const numberNames = ["days", "views"] as const;
type NumberName = keyof typeof numbers;
const names: readonly (NumberName | KindOption)[] = [...numberNames, ...kindOptions];

/** The id of the control of a default. Its name is that of the kind with that of the default in brackets. */
export type DefaultField = `${KindName}_${WireName<NumberName | KindOption>}`;

export function idOfDefault<Name extends NumberName | KindOption>(kind: KindName, name: Name) {
  return `${kind}_${wireName(name)}` as const;
}

/** The labels of the defaults in the order of the page. Each is with its kind, because each kind has it. */
export function labelsOfDefaults(messages: Messages): Record<DefaultField, string> {
  const labels = kindNames.flatMap((kind) =>
    names.map((name) => {
      const label = messages.problems.of({ field: messages.kinds[kind], problem: labelOfName(name, messages) });
      return [idOfDefault(kind, name), label];
    }),
  );
  return Object.fromEntries(labels) as Record<DefaultField, string>;
}

export function labelOfName(name: NumberName | KindOption, messages: Messages): string {
  return name === "days" || name === "views" ? messages.newPush[name] : optionFields[name].label(messages);
}

/** The defaults of one kind as typed; an option is "1", "0" or "": the server's default. */
type KindValues = Readonly<Record<NumberName | KindOption, string>>;

export interface KindForm {
  readonly kind: KindName;
  /** The server's settings of this kind. */
  readonly settings: KindSettings;
  readonly values: KindValues;
}

export interface DefaultsForm {
  /** "": the server's default. */
  readonly first: string;
  /** The server's default. */
  readonly serverFirst: KindName;
  readonly kinds: readonly KindForm[];
}

type Problems = Partial<Record<DefaultField | "first_kind", string>>;

/** The form with the stored values. */
export function storedDefaults(stored: PushDefaults, { kinds }: Pick<Config, "kinds">): DefaultsForm {
  const enabled = enabledKinds({ kinds });
  const valuesOf = (of: KindDefaults = {}) =>
    byName((name) => {
      if (name === "days" || name === "views") return String(of[numbers[name]] ?? "");
      return of[name] === undefined ? "" : of[name] ? "1" : "0";
    });
  return {
    first: stored.kind ?? "",
    serverFirst: enabled[0] ?? "text",
    kinds: enabled.map((kind) => ({ kind, settings: kinds[kind], values: valuesOf(stored.kinds[kind]) })),
  };
}

function byName<Value>(choose: (name: NumberName | KindOption) => Value) {
  return Object.fromEntries(names.map((name) => [name, choose(name)])) as Record<NumberName | KindOption, Value>;
}

/** Reads the fields `first_kind` and, under each kind's name, its defaults. */
export function typedDefaults(fields: FormFields, config: Config): DefaultsForm {
  const form = storedDefaults(noDefaults, config);
  const kinds = form.kinds.map((kind): KindForm => {
    const level = fields[kind.kind];
    const typed = Object.fromEntries(typeof level === "object" ? Object.entries(level) : []);
    return { ...kind, values: byName((name) => textOf(typed, wireName(name)).trim()) };
  });
  return { ...form, first: textOf(fields, "first_kind").trim(), kinds };
}

/** @returns `defaults` valid only without problems. Disabled kinds keep their stored values. */
export function readDefaults({ first, kinds }: DefaultsForm, stored: PushDefaults, messages: Messages) {
  const problems: Problems = {};
  const kind = kinds.find((form) => form.kind === first)?.kind ?? null;
  if (first !== "" && kind === null) problems.first_kind = messages.profile.defaults.choice;
  const read = kinds.map((form) => [form.kind, readKind(form, problems, messages)] as const);
  return { defaults: { ...stored, kind, kinds: { ...stored.kinds, ...Object.fromEntries(read) } }, problems };
}

function readKind({ kind, settings, values }: KindForm, problems: Problems, messages: Messages): KindDefaults {
  const read: { -readonly [Name in keyof KindDefaults]: KindDefaults[Name] } = {};
  for (const name of names) {
    const typed = values[name];
    if (typed === "") continue;
    if (name === "days" || name === "views") {
      const { min, max } = settings[name];
      const value = /^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN;
      if (value >= min && value <= max) read[numbers[name]] = value;
      else problems[idOfDefault(kind, name)] = messages.problems.range({ min, max });
    } else if (typed === "1" || typed === "0") {
      read[name] = typed === "1";
    } else {
      problems[idOfDefault(kind, name)] = messages.profile.defaults.choice;
    }
  }
  return read;
}
