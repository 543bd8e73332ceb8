import { isVisibleLine } from "../../base/one-line.ts";
import { kindNames } from "../../base/push-kinds.ts";
import { type FormFields, textOf, wholeNumberOf } from "../../http/body/form-fields.ts";
import { wireName } from "../../http/errors.ts";
import { durationMinutes } from "../../http/push-fields.ts";
import type { Messages } from "../../i18n/i18n.ts";
import {
  fieldLimits,
  fieldTypes,
  type PresetScope,
  type PresetSettings,
  type PushOption,
  type StoredPreset,
} from "../../pushes/pushes.ts";
import { byOption } from "../push-form/options.ts";

/** Whose presets a page shows. `group`: its name; null: everybody's; undefined: one's own. */
export interface PresetsTarget {
  readonly scope: PresetScope;
  readonly path: string;
  readonly group: string | null | undefined;
}

export const presetNameMax = 64;
export const viewsRange = { min: 1, max: 1_000_000 } as const;

export type PresetField = "name" | "expireAfterViews" | "fields";

/** The form of a preset as typed; "": the preset leaves it open. */
export interface TypedPreset {
  /** The name of the preset that is changed; "": it is a new one. */
  readonly was: string;
  /** The revision of the preset from which the form was made; 0: it is a new one. */
  readonly revision: number;
  readonly name: string;
  readonly isDefault: boolean;
  readonly kind: string;
  readonly expireAfterMinutes: string;
  readonly expireAfterViews: string;
  /** A line each: the label, and its type after a colon unless it is text. */
  readonly fields: string;
  /** "1", "0" or "". */
  readonly options: Readonly<Record<PushOption, string>>;
}

export function typedFrom({ name, revision, isDefault, settings }: StoredPreset): TypedPreset {
  return {
    was: name,
    revision,
    name,
    isDefault,
    kind: settings.kind ?? "",
    expireAfterMinutes: String(settings.expireAfterMinutes ?? ""),
    expireAfterViews: String(settings.expireAfterViews ?? ""),
    fields: fieldLines(settings),
    options: byOption((option) => (settings[option] === undefined ? "" : settings[option] ? "1" : "0")),
  };
}

export function fieldLines({ fields = [] }: PresetSettings): string {
  return fields.map(({ label, type }) => (type === "text" ? label : `${label}:${type}`)).join("\n");
}

export function readTyped(form: FormFields): TypedPreset {
  return {
    was: textOf(form, "was"),
    revision: wholeNumberOf(form, "revision"),
    name: textOf(form, "name").trim().normalize("NFC"),
    isDefault: textOf(form, "is_default") === "1",
    kind: textOf(form, "kind"),
    expireAfterMinutes: textOf(form, "expire_after_minutes"),
    expireAfterViews: textOf(form, "expire_after_views").trim(),
    fields: textOf(form, "fields").trim(),
    options: byOption((option) => textOf(form, wireName(option))),
  };
}

/** @returns the preset, valid only without problems. */
export function presetFrom(typed: TypedPreset, { presets, problems }: Messages) {
  const found: Partial<Record<PresetField, string>> = {};
  const { name, isDefault, expireAfterViews } = typed;
  if (!isVisibleLine(name) || [...name].length > presetNameMax) {
    found.name = presets.badName({ max: presetNameMax });
  }
  const views = /^\d{1,9}$/.test(expireAfterViews) ? Number(expireAfterViews) : Number.NaN;
  if (expireAfterViews !== "" && !(views >= viewsRange.min && views <= viewsRange.max)) {
    found.expireAfterViews = problems.range(viewsRange);
  }
  const fields = fieldsFrom(typed.fields);
  if (fields === undefined) found.fields = presets.badFields({ count: fieldLimits.count, max: fieldLimits.label });
  const kind = kindNames.find((known) => known === typed.kind);
  const minutes = durationMinutes.find((known) => String(known) === typed.expireAfterMinutes);
  const options = Object.entries(typed.options).flatMap(([option, value]) =>
    value === "1" || value === "0" ? [[option, value === "1"]] : [],
  );
  const settings: PresetSettings = {
    ...(kind !== undefined && { kind }),
    ...(minutes !== undefined && { expireAfterMinutes: minutes }),
    ...(expireAfterViews !== "" && { expireAfterViews: views }),
    ...Object.fromEntries(options),
    ...(fields !== undefined && fields.length > 0 && { fields }),
  };
  return { preset: { name, isDefault, settings }, problems: found };
}

/** @returns undefined: not valid. */
function fieldsFrom(text: string): PresetSettings["fields"] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const fields = lines.map((line) => {
    const [, label = "", named] = /^(.*?)(?::(secret|otp))?$/u.exec(line.trim()) ?? [];
    return { label, type: fieldTypes.find((type) => type === named) ?? ("text" as const) };
  });
  const isValid = ({ label }: { readonly label: string }) =>
    isVisibleLine(label) && [...label].length <= fieldLimits.label;
  const isUnique = new Set(fields.map(({ label }) => label.toLowerCase())).size === fields.length;
  return fields.length <= fieldLimits.count && isUnique && fields.every(isValid) ? fields : undefined;
}
