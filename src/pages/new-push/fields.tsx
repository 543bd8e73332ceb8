import type { ComponentChildren } from "preact";
import type { Messages } from "../../i18n/i18n.ts";
import { keepFirstLineEnd } from "../parts/exact-text.tsx";
import { Checkbox, Field } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { InputField, NumberField, TextField } from "../parts/input-fields.tsx";
import { ShowButton } from "../parts/show-button.tsx";
import type { PayloadProps } from "./payload-fields.tsx";

/** @param hint stands in place of the usual one. */
export function Lifetime({ model, messages, hint }: PayloadProps & { readonly hint?: ComponentChildren }) {
  const { newPush } = messages;
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
          <NumberField
            key={id}
            id={id}
            name={field === "expireAfterDays" ? "push[expire_after_days]" : "push[expire_after_views]"}
            label={label}
            hint={newPush.range({ min: range.min, max: range.max })}
            problem={model.problems[field]}
            value={model.values[field]}
            range={range}
            required
          />
        ))}
      </div>
    </fieldset>
  );
}

export function Passphrase({ model, messages }: PayloadProps) {
  const { newPush } = messages;
  return (
    <PassphraseField
      messages={messages}
      field="passphrase"
      label={newPush.passphrase}
      hint={newPush.passphraseHint}
      value={model.values.passphrase}
      problem={model.problems.passphrase}
      suggest
    />
  );
}

export interface PassphraseFieldProps {
  readonly messages: Messages;
  readonly field: "passphrase" | "current_passphrase";
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly problem: string | undefined;
  /** A button that thinks one up. */
  readonly suggest?: boolean;
}

/** `new-password` for each: it keeps browsers from filling in the password of the account. */
export function PassphraseField({
  messages,
  field,
  label,
  hint,
  value,
  problem,
  suggest = false,
}: PassphraseFieldProps) {
  const id = `push_${field}`;
  const beside = (
    <>
      <ShowButton messages={messages} of={id} />
      {suggest && (
        <button type="button" class="button" hidden data-scripted data-suggest-passphrase={id}>
          <Icon name="dice" />
          <span>{messages.newPush.suggestPassphrase}</span>
        </button>
      )}
    </>
  );
  return (
    <InputField
      {...{ id, name: `push[${field}]`, label, hint, value, problem, beside }}
      input={{ type: "password", autoComplete: "new-password", spellcheck: false }}
    />
  );
}

export function Options({ model, messages }: PayloadProps) {
  const { newPush } = messages;
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

export function Labels({ model, messages }: PayloadProps) {
  const { newPush } = messages;
  return (
    <fieldset class="group" aria-describedby="push_labels_hint">
      <legend>{newPush.labels}</legend>
      <p class="field-hint" id="push_labels_hint">
        {newPush.labelsHint}
      </p>
      <TextField
        id="push_name"
        name="push[name]"
        label={newPush.name}
        problem={model.problems.name}
        value={model.values.name}
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
