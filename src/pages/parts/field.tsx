import type { ComponentChildren } from "preact";

export interface ControlAttributes {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

export interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string | undefined;
  /** Draws the control with the attributes that tie it to its label, hint and problem. */
  readonly control: (attributes: ControlAttributes) => ComponentChildren;
}

/** A labelled control with its hint, and what is wrong with it said right beside it. */
export function Field({ id, label, hint, problem, control }: FieldProps) {
  const described = [hint === undefined ? "" : `${id}_hint`, problem === undefined ? "" : `${id}_problem`];
  return (
    <div class={problem === undefined ? "field" : "field field-invalid"}>
      <label class="field-label" for={id}>
        {label}
      </label>
      {hint !== undefined && (
        <p class="field-hint" id={`${id}_hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="field-problem" id={`${id}_problem`}>
          {problem}
        </p>
      )}
      {control({
        id,
        "aria-describedby": described.join(" ").trim() || undefined,
        "aria-invalid": problem === undefined ? undefined : "true",
      })}
    </div>
  );
}

export interface CheckboxProps {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly checked: boolean;
}

/** A box whose unchecked state is sent too: without the hidden companion "no" could not be told from "not asked". */
export function Checkbox({ id, name, label, hint, checked }: CheckboxProps) {
  return (
    <div class="checkbox">
      <input type="hidden" name={name} value="0" />
      <input type="checkbox" id={id} name={name} value="1" checked={checked} aria-describedby={`${id}_hint`} />
      <div>
        <label for={id}>{label}</label>
        <p class="field-hint" id={`${id}_hint`}>
          {hint}
        </p>
      </div>
    </div>
  );
}
