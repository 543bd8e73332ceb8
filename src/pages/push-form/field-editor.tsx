import type { Messages } from "../../i18n/i18n.ts";
import { fieldTypes } from "../../pushes/pushes.ts";
import { useMessages, usePage } from "../page.ts";
import { Button } from "../parts/buttons.tsx";
import { Icon } from "../parts/icon.tsx";
import type { ControlProps } from "./form.ts";

/**
 * The fields of a structured secret, instead of a text. The editor (browser/field-editor.ts) and its texts are loaded when
 * somebody presses "Add fields": the form stays light.
 */
export function FieldsControl({ field: { id, name, value, problem }, form }: ControlProps) {
  const { assetUrl } = usePage();
  return (
    <>
      {problem !== undefined && (
        <p class="field-problem" id={id}>
          {problem}
        </p>
      )}
      <input
        type="hidden"
        name={name}
        value={value}
        data-fields={assetUrl("field-editor.js")}
        data-labels={form.labels}
      />
    </>
  );
}

type Label = keyof Messages["newPush"]["fields"]["labels"];
type Template = keyof Messages["newPush"]["fields"]["templates"];

const templates: Readonly<Record<Template, readonly (readonly [Label, (typeof fieldTypes)[number]])[]>> = {
  login: [
    ["address", "text"],
    ["user", "text"],
    ["password", "secret"],
    ["code", "otp"],
  ],
  server: [
    ["host", "text"],
    ["user", "text"],
    ["password", "secret"],
    ["key", "secret"],
    ["note", "text"],
  ],
  wifi: [
    ["network", "text"],
    ["password", "secret"],
  ],
  card: [
    ["holder", "text"],
    ["number", "secret"],
    ["expiry", "text"],
    ["cvc", "secret"],
  ],
};
const templateNames = Object.keys(templates) as Template[];

/** What the script puts into the form. */
export function FieldEditorParts() {
  const { fields } = useMessages().newPush;
  return (
    <template data-field-editor data-problems={JSON.stringify(fields.problems)}>
      <div class="input-row">
        {templateNames.map((name) => (
          <Button
            label={fields.templates[name]}
            look="small"
            key={name}
            data-template={JSON.stringify(templates[name].map(([label, type]) => [fields.labels[label], type]))}
          />
        ))}
      </div>
      <div class="stack-small" data-rows />
      <div class="input-row">
        <Button label={fields.addOne} look="small" data-add />
        <Button label={fields.useText} look="small" data-use-text />
      </div>
      <template data-row>
        <div class="field-row">
          <label>
            <span class="field-label">{fields.label}</span>
            <input class="input" data-label dir="auto" autoComplete="off" spellcheck={false} />
          </label>
          <label>
            <span class="field-label">{fields.type}</span>
            <select class="input" data-type autoComplete="off">
              {fieldTypes.map((type) => (
                <option key={type} value={type}>
                  {fields.types[type]}
                </option>
              ))}
            </select>
          </label>
          <label class="field-row-value">
            <span class="field-label">{fields.value}</span>
            <textarea
              class="input input-secret"
              data-value
              rows={1}
              dir="auto"
              spellcheck={false}
              autoComplete="off"
              autoCapitalize="off"
            />
          </label>
          <button type="button" class="button button-icon" data-remove aria-label={fields.remove}>
            <Icon name="trash" />
          </button>
          <p class="field-problem" role="alert" hidden data-row-problem />
        </div>
      </template>
    </template>
  );
}
