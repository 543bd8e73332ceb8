import type { ComponentChildren } from "preact";
import { keepFirstLineEnd } from "../parts/exact-text.tsx";
import { Checkbox, Field } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import type { PayloadProps } from "./payload-fields.tsx";

/** @param hint stands in place of the usual one. */
export function Lifetime({ model, words, hint }: PayloadProps & { readonly hint?: ComponentChildren }) {
  const { newPush } = words;
  const numbers = [
    { field: "expireAfterDays", id: "push_expire_after_days", label: newPush.days, range: model.settings.days },
    { field: "expireAfterViews", id: "push_expire_after_views", label: newPush.views, range: model.settings.views },
  ] as const;
  return (
    <fieldset class="group" aria-describedby="push_limits_hint">
      <legend>{newPush.limits}</legend>
      <p class="field-hint" id="push_limits_hint">
        {hint ?? newPush.limitsHint}
      </p>
      <div class="pair">
        {numbers.map(({ field, id, label, range }) => (
          <Field
            key={id}
            id={id}
            label={label}
            hint={newPush.range({ min: range.min, max: range.max })}
            problem={model.problems[field]}
            control={(attributes) => (
              <input
                {...attributes}
                class="input"
                type="number"
                inputMode="numeric"
                name={field === "expireAfterDays" ? "push[expire_after_days]" : "push[expire_after_views]"}
                value={model.values[field]}
                min={range.min}
                max={range.max}
                step={1}
                required
              />
            )}
          />
        ))}
      </div>
    </fieldset>
  );
}

export function Passphrase({ model, words }: PayloadProps) {
  const { newPush, actions } = words;
  return (
    <Field
      id="push_passphrase"
      label={newPush.passphrase}
      hint={newPush.passphraseHint}
      problem={model.problems.passphrase}
      control={(attributes) => (
        <div class="input-row">
          <input
            {...attributes}
            class="input"
            type="password"
            name="push[passphrase]"
            value={model.values.passphrase}
            autoComplete="new-password"
            spellcheck={false}
          />
          <button
            type="button"
            class="button"
            hidden
            data-scripted
            data-show="push_passphrase"
            data-label-hide={actions.hide}
          >
            <Icon name="eye" />
            <span data-show-label>{actions.show}</span>
          </button>
          <button type="button" class="button" hidden data-scripted data-suggest-passphrase="push_passphrase">
            <Icon name="dice" />
            <span>{newPush.suggestPassphrase}</span>
          </button>
        </div>
      )}
    />
  );
}

export function Options({ model, words }: PayloadProps) {
  const { newPush } = words;
  const { retrievalStep, deletableByViewer } = model.settings;
  if (!retrievalStep.offered && !deletableByViewer.offered) return null;
  return (
    <fieldset class="group">
      <legend>{newPush.options}</legend>
      {retrievalStep.offered && (
        <Checkbox
          id="push_retrieval_step"
          name="push[retrieval_step]"
          label={newPush.retrievalStep}
          hint={newPush.retrievalStepHint}
          checked={model.values.retrievalStep}
        />
      )}
      {deletableByViewer.offered && (
        <Checkbox
          id="push_deletable_by_viewer"
          name="push[deletable_by_viewer]"
          label={newPush.deletable}
          hint={newPush.deletableHint}
          checked={model.values.deletableByViewer}
        />
      )}
    </fieldset>
  );
}

export function Labels({ model, words }: PayloadProps) {
  const { newPush } = words;
  return (
    <fieldset class="group" aria-describedby="push_labels_hint">
      <legend>{newPush.labels}</legend>
      <p class="field-hint" id="push_labels_hint">
        {newPush.labelsHint}
      </p>
      <Field
        id="push_name"
        label={newPush.name}
        problem={model.problems.name}
        control={(attributes) => (
          <input
            {...attributes}
            class="input"
            type="text"
            name="push[name]"
            value={model.values.name}
            dir="auto"
            autoComplete="off"
          />
        )}
      />
      <Field
        id="push_note"
        label={newPush.note}
        problem={model.problems.note}
        control={(attributes) => (
          <textarea {...attributes} class="input" name="push[note]" rows={2} dir="auto">
            {keepFirstLineEnd(model.values.note)}
          </textarea>
        )}
      />
    </fieldset>
  );
}
