import type { KindSettings, Range } from "./config.ts";
import type { ParsedSettings } from "./read-settings.ts";
import type { ParsedSetting } from "./setting.ts";
import type { SettingGroups } from "./settings.ts";

type KindReadings = ParsedSettings<SettingGroups>["text"];

export interface KindResult {
  readonly settings: KindSettings;
  readonly mistakes: readonly string[];
  readonly warnings: readonly string[];
  /** Defaults that gave way to a bound: env name -> the value that holds. */
  readonly moved: Readonly<Record<string, string>>;
}

export function kindSettings(rows: KindReadings, enabled: boolean): KindResult {
  const days = settleRange(rows.daysDefault, rows.daysMin, rows.daysMax);
  const views = settleRange(rows.viewsDefault, rows.viewsMin, rows.viewsMax);
  return {
    settings: {
      enabled,
      days: days.range,
      views: views.range,
      retrievalStep: option(rows.retrievalStepOffered, rows.retrievalStepDefault),
      deletableByViewer: option(rows.deletableOffered, rows.deletableDefault),
      blur: rows.blur.value,
    },
    mistakes: [...days.mistakes, ...views.mistakes],
    warnings: [...days.warnings, ...views.warnings],
    moved: { ...days.moved, ...views.moved },
  };
}

/** What is not offered cannot be on by default. */
function option(
  offered: ParsedSetting<boolean>,
  byDefault: ParsedSetting<boolean>,
): { offered: boolean; default: boolean } {
  return { offered: offered.value, default: offered.value && byDefault.value };
}

type Settled = Omit<KindResult, "settings"> & { readonly range: Range };

/**
 * A given default outside the bounds contradicts them; the table's own gives way to bounds that an operator set, so that
 * lowering a maximum takes one setting, not two.
 */
function settleRange(
  byDefault: ParsedSetting<number>,
  min: ParsedSetting<number>,
  max: ParsedSetting<number>,
): Settled {
  const range = { default: byDefault.value, min: min.value, max: max.value };
  const settled = { range, mistakes: [], warnings: [], moved: {} };
  if ([byDefault, min, max].some((reading) => reading.mistake !== undefined)) return settled;

  const bounds = `${min.env} (${min.value}) to ${max.env} (${max.value})`;
  if (min.value > max.value) {
    return { ...settled, mistakes: [`${min.env} (${min.value}) is above ${max.env} (${max.value}).`] };
  }
  const nearest = Math.min(Math.max(byDefault.value, min.value), max.value);
  if (nearest === byDefault.value) return settled;
  if (byDefault.given) {
    return { ...settled, mistakes: [`${byDefault.env} (${byDefault.value}) is outside the range ${bounds}.`] };
  }
  return {
    ...settled,
    range: { ...range, default: nearest },
    warnings: [
      `${byDefault.env} is not given, and ${byDefault.value} is outside the range ${bounds}: ${nearest} is taken.`,
    ],
    moved: { [byDefault.env]: String(nearest) },
  };
}
