import { byKind, type KindName } from "../../base/push-kinds.ts";
import { type ParsedGroup, type ParsedSetting, type ParsedTable, type SettingReport, setting } from "../setting.ts";
import { boolean, wholeNumber } from "../value-types.ts";
import type { accessSettings } from "./access.ts";

/** The options of a push that have settings for each kind. */
export const kindOptions = ["retrievalStep", "deletableByViewer"] as const;
export type KindOption = (typeof kindOptions)[number];

const daysMax = 3650;
const viewsMax = 100_000;

/**
 * The settings that each kind of push has.
 * @param push the kind with its article, e.g. "a text push".
 * @param prefix the part of the names that identifies the kind: `PWP__<prefix>__...`.
 */
function kindGroup(kind: { title: string; push: string; prefix: string; deletableDefault: "true" | "false" }) {
  const { title, push, prefix, deletableDefault } = kind;
  const expiry = (limit: "DAYS" | "VIEWS", bound: "DEFAULT" | "MIN" | "MAX", doc: string, byDefault: string) =>
    setting({
      env: `PWP__${prefix}__EXPIRE_AFTER_${limit}_${bound}`,
      doc,
      type: wholeNumber(1, limit === "DAYS" ? daysMax : viewsMax),
      default: byDefault,
    });
  const option = (name: string, doc: string, byDefault: "true" | "false") =>
    setting({ env: `PWP__${prefix}__${name}`, doc, type: boolean, default: byDefault });

  return {
    title,
    intro: "",
    settings: {
      daysDefault: expiry(
        "DAYS",
        "DEFAULT",
        `Days after which ${push} ends unless its creator chooses otherwise.`,
        "7",
      ),
      daysMin: expiry("DAYS", "MIN", "The fewest days that can be chosen.", "1"),
      daysMax: expiry("DAYS", "MAX", "The most days that can be chosen.", "90"),
      viewsDefault: expiry(
        "VIEWS",
        "DEFAULT",
        `Views after which ${push} ends unless its creator chooses otherwise.`,
        "5",
      ),
      viewsMin: expiry("VIEWS", "MIN", "The fewest views that can be chosen.", "1"),
      viewsMax: expiry("VIEWS", "MAX", "The most views that can be chosen.", "100"),
      retrievalStepOffered: option(
        "ENABLE_RETRIEVAL_STEP",
        `Whether ${push} can have a retrieval step: a page with a button before the one that counts as a view.`,
        "true",
      ),
      retrievalStepDefault: option(
        "RETRIEVAL_STEP_DEFAULT",
        "Whether it has one unless its creator chooses otherwise.",
        "true",
      ),
      deletableOffered: option(
        "ENABLE_DELETABLE_PUSHES",
        `Whether recipients can be allowed to delete ${push} before it ends.`,
        "true",
      ),
      deletableDefault: option(
        "DELETABLE_PUSHES_DEFAULT",
        "Whether they are allowed to unless its creator chooses otherwise.",
        deletableDefault,
      ),
      blur: option("ENABLE_BLUR", "Whether pages hide the payload until its reader shows it.", "true"),
    },
  };
}

export const kindSettings = {
  text: kindGroup({ title: "Text pushes", push: "a text push", prefix: "PW", deletableDefault: "true" }),
  file: kindGroup({ title: "File pushes", push: "a file push", prefix: "FILES", deletableDefault: "true" }),
  url: kindGroup({ title: "URL pushes", push: "a URL push", prefix: "URL", deletableDefault: "false" }),
  qr: kindGroup({ title: "QR code pushes", push: "a QR code push", prefix: "QR", deletableDefault: "true" }),
};

/** The setting that enables each kind; null: the kind is always enabled. */
const enabledBy = {
  text: null,
  file: "filePushes",
  url: "urlPushes",
  qr: "qrPushes",
} as const satisfies Record<KindName, keyof AccessRows | null>;

type AccessRows = ParsedGroup<typeof accessSettings>;
type KindRows = ParsedGroup<typeof kindSettings.text>;

export function kindsConfig(parsed: ParsedTable<typeof kindSettings>, access: AccessRows, report: SettingReport) {
  return byKind((kind) => {
    const enabling = enabledBy[kind];
    return kindConfig(parsed[kind], enabling === null || access[enabling].value, report);
  });
}

function kindConfig(rows: KindRows, enabled: boolean, report: SettingReport) {
  return {
    enabled,
    days: range(rows.daysDefault, rows.daysMin, rows.daysMax, report),
    views: range(rows.viewsDefault, rows.viewsMin, rows.viewsMax, report),
    /** `offered` false: the option is off for every push of this kind, whatever the request says. */
    retrievalStep: option(rows.retrievalStepOffered, rows.retrievalStepDefault),
    deletableByViewer: option(rows.deletableOffered, rows.deletableDefault),
    /** Pages hide the secret until its reader shows it. */
    blur: rows.blur.value,
  };
}

/** An option that is not offered cannot be on by default. */
function option(offered: ParsedSetting<boolean>, byDefault: ParsedSetting<boolean>) {
  return { offered: offered.value, default: offered.value && byDefault.value };
}

/**
 * A default that the operator sets outside the bounds contradicts them. The built-in default adjusts to bounds that the
 * operator sets, so that lowering a maximum takes one setting, not two.
 */
function range(
  byDefault: ParsedSetting<number>,
  min: ParsedSetting<number>,
  max: ParsedSetting<number>,
  report: SettingReport,
) {
  const asGiven = { default: byDefault.value, min: min.value, max: max.value };
  if ([byDefault, min, max].some(({ mistake }) => mistake !== undefined)) return asGiven;
  if (min.value > max.value) {
    report.mistake(`${min.env} (${min.value}) is above ${max.env} (${max.value}).`, min.env);
    return asGiven;
  }
  const nearest = Math.min(Math.max(byDefault.value, min.value), max.value);
  if (nearest === byDefault.value) return asGiven;

  const bounds = `${min.env} (${min.value}) to ${max.env} (${max.value})`;
  if (byDefault.given) {
    report.mistake(`${byDefault.env} (${byDefault.value}) is outside the range ${bounds}.`, byDefault.env);
    return asGiven;
  }
  report.warn(
    `${byDefault.env} is not given, and ${byDefault.value} is outside the range ${bounds}: ${nearest} is used.`,
  );
  report.adjustedDefaults.set(byDefault.env, String(nearest));
  return { ...asGiven, default: nearest };
}
