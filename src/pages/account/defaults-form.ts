import type { KindDefaults, PushDefaults } from "../../accounts/accounts.ts";
import type { Config, Range } from "../../config/config.ts";
import type { FormFields } from "../../http/body/form-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import { enabledKinds } from "../push-form/form.ts";
import type { AccountField, Choice, DefaultsForm, KindForm, KindValues } from "./model.ts";

/** The form with the stored values. */
export function defaultsForm(stored: PushDefaults, { kinds }: Pick<Config, "kinds">): DefaultsForm {
  const enabled = enabledKinds({ kinds });
  return {
    first: stored.kind ?? "",
    serverFirst: enabled[0] ?? "text",
    kinds: enabled.map((kind) => ({ kind, settings: kinds[kind], values: valuesOf(stored.kinds[kind] ?? {}) })),
  };
}

function valuesOf(stored: KindDefaults): KindValues {
  const choice = (value: boolean | undefined): Choice => (value === undefined ? "" : value ? "1" : "0");
  return {
    days: String(stored.expireAfterDays ?? ""),
    views: String(stored.expireAfterViews ?? ""),
    retrievalStep: choice(stored.retrievalStep),
    deletableByViewer: choice(stored.deletableByViewer),
  };
}

/**
 * Reads the fields `first_kind` and, under each kind's name, `days`, `views`, `retrieval_step` and `deletable_by_viewer`.
 * @returns `defaults` valid only without problems. Disabled kinds keep their stored values.
 */
export function readDefaults(fields: FormFields, stored: PushDefaults, config: Config, messages: Messages) {
  const problems: Partial<Record<AccountField, string>> = {};
  const { serverFirst, kinds } = defaultsForm(stored, config);
  const first = textOf(fields.first_kind);
  if (first !== "" && !kinds.some(({ kind }) => kind === first)) problems.first_kind = messages.profile.defaults.choice;
  const forms = kinds.map((form): KindForm => ({ ...form, values: typedValues(fields[form.kind]) }));
  const read = forms.map((form) => [form.kind, readKind(form, problems, messages)] as const);
  return {
    defaults: {
      ...stored,
      kind: kinds.find(({ kind }) => kind === first)?.kind ?? null,
      kinds: { ...stored.kinds, ...Object.fromEntries(read) },
    },
    problems,
    form: { first, serverFirst, kinds: forms },
  };
}

function typedValues(level: FormFields[string] | undefined): KindValues {
  const given = typeof level === "object" && !Array.isArray(level) ? new Map(Object.entries(level)) : new Map();
  return {
    days: textOf(given.get("days")),
    views: textOf(given.get("views")),
    retrievalStep: textOf(given.get("retrieval_step")),
    deletableByViewer: textOf(given.get("deletable_by_viewer")),
  };
}

type Found = Partial<Record<AccountField, string>>;

function readKind({ kind, settings, values }: KindForm, problems: Found, messages: Messages): KindDefaults {
  const number = (field: "days" | "views") => readNumber(values[field], settings[field], `${kind}_${field}`);
  function readNumber(typed: string, range: Range, field: AccountField): number | undefined {
    if (typed === "") return undefined;
    const value = /^\d{1,9}$/.test(typed) ? Number(typed) : Number.NaN;
    if (value >= range.min && value <= range.max) return value;
    problems[field] = messages.problems.range({ min: range.min, max: range.max });
    return undefined;
  }
  function readChoice(typed: Choice, field: "retrieval_step" | "deletable_by_viewer"): boolean | undefined {
    if (typed === "1" || typed === "0") return typed === "1";
    if (typed !== "") problems[`${kind}_${field}`] = messages.profile.defaults.choice;
    return undefined;
  }
  return withoutUndefined({
    expireAfterDays: number("days"),
    expireAfterViews: number("views"),
    retrievalStep: readChoice(values.retrievalStep, "retrieval_step"),
    deletableByViewer: readChoice(values.deletableByViewer, "deletable_by_viewer"),
  });
}

function withoutUndefined(read: { [Name in keyof KindDefaults]-?: KindDefaults[Name] | undefined }): KindDefaults {
  const { expireAfterDays, expireAfterViews, retrievalStep, deletableByViewer } = read;
  return {
    ...(expireAfterDays !== undefined && { expireAfterDays }),
    ...(expireAfterViews !== undefined && { expireAfterViews }),
    ...(retrievalStep !== undefined && { retrievalStep }),
    ...(deletableByViewer !== undefined && { deletableByViewer }),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
