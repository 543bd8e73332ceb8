import { wireName } from "../../http/errors.ts";
import type { CallerPreset, PresetSettings } from "../../pushes/pushes.ts";
import { useMessages } from "../page.ts";
import { Submit } from "../parts/buttons.tsx";
import { offeredTimes } from "./controls.tsx";
import type { PushValues } from "./fields.tsx";
import type { PushForm } from "./form.ts";
import { optionFields, optionNames } from "./options.ts";

/** The presets that the form of a new push offers. */
export interface OfferedPresets {
  readonly all: readonly CallerPreset[];
  /** The one that the form shows; undefined: none. */
  readonly shown: CallerPreset | undefined;
}

/** What a preset changes in the form, as far as rules and the kind of the form allow it. */
export function presetValues(form: PushForm, settings: PresetSettings): Partial<PushValues> {
  const { expireAfterMinutes, expireAfterViews } = settings;
  const times = offeredTimes(form.settings, form.policy);
  const time =
    expireAfterMinutes === undefined
      ? undefined
      : (times.findLast(({ minutes }) => minutes <= expireAfterMinutes) ?? times[0]);
  const { min, max } = form.settings.views;
  const options = optionNames.flatMap((option) => {
    const isOn = settings[option];
    if (isOn === undefined || !optionFields[option].isOffered(form)) return [];
    return [[option, isOn || (option === "notifyOnView" && form.policy.notifyOnViewRequired)]];
  });
  return {
    ...(time !== undefined && { expireAfterDuration: time.code, expiresAt: "" }),
    ...(expireAfterViews !== undefined && {
      expireAfterViews: String(Math.min(Math.max(expireAfterViews, min), max)),
    }),
    ...Object.fromEntries(options),
  };
}

/** Names and kinds of the fields, for the editor of fields. */
export function labelsOf({ fields = [] }: PresetSettings): string | undefined {
  return fields.length === 0 ? undefined : JSON.stringify(fields.map(({ label, type }) => [label, type]));
}

interface PresetChoiceProps {
  readonly presets: OfferedPresets;
  /** The form of the kind of a preset. */
  readonly formOf: (preset: CallerPreset) => PushForm;
}

/**
 * Without scripts the button sends the form, which comes back with everything that was typed and the settings of the preset;
 * the script (browser/parts/presets.ts) puts them into the form. The preset itself is not sent to be applied: the form names
 * everything, so that a preset that is deleted meanwhile matters no more.
 */
export function PresetChoice({ presets: { all, shown }, formOf }: PresetChoiceProps) {
  const { presets: text } = useMessages();
  if (all.length === 0) return null;
  const labels = shown?.settings.fields?.map(({ label }) => label).join(", ");
  return (
    <div class="field">
      <label class="field-label" for="push_preset">
        {text.choose}
      </label>
      <div class="input-row">
        <select class="input" id="push_preset" name="push[shown_preset]" data-presets>
          <option value="">{text.noPreset}</option>
          {all.map((preset) => (
            <option
              key={preset.name}
              value={preset.name}
              selected={preset.name === shown?.name}
              data-kind={preset.settings.kind}
              data-values={wireValues(presetValues(formOf(preset), preset.settings))}
              data-labels={labelsOf(preset.settings)}
            >
              {preset.name}
            </option>
          ))}
        </select>
        <Submit label={text.use} look="plain" formNoValidate name="push[use_preset]" value="1" />
      </div>
      {labels !== undefined && (
        <noscript>
          <p class="field-hint">{text.asks({ labels })}</p>
        </noscript>
      )}
    </div>
  );
}

function wireValues(values: Partial<PushValues>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(values).map(([name, value]) => [wireName(name), value])));
}
