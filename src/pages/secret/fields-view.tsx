import { becomesLink, type PushField } from "../../pushes/pushes.ts";
import { useMessages } from "../page.ts";
import { CopyButton } from "../parts/buttons.tsx";
import { ExactText } from "../parts/exact-text.tsx";

/** A structured secret: a row for each field. The codes of a seed are made by a script (browser/parts/one-time-codes.ts). */
export function FieldRows({ fields }: { readonly fields: readonly PushField[] }) {
  return (
    <dl class="stack-small secret-fields">
      {fields.map((field, at) => (
        <FieldRow key={field.label} id={`field_${at}`} field={field} />
      ))}
    </dl>
  );
}

/** The rows that a script fills in, one of each type: the server does not know the fields of an end-to-end push. */
export function EmptyFieldRows() {
  return (
    <>
      <dl class="stack-small secret-fields" hidden data-opened-fields />
      {(["text", "secret", "otp"] as const).map((type) => (
        <template key={type} data-field-row={type}>
          <FieldRow id={`{${type}}`} field={{ label: "{label}", value: "", type }} />
        </template>
      ))}
    </>
  );
}

interface RowProps {
  readonly id: string;
  readonly field: PushField;
}

function FieldRow({ id, field: { label, value, type } }: RowProps) {
  const { actions, secret } = useMessages();
  const copied = type === "otp" ? `${id}_code` : id;
  return (
    <div class="secret-field" data-one-time={type === "otp" ? "" : undefined}>
      <dt id={`${id}_label`}>
        <bdi data-field-label>{label}</bdi>
      </dt>
      <dd>
        {type === "otp" && (
          <p class="one-time" dir="ltr" hidden data-one-time-code>
            <span id={copied} class="one-time-code" />
            <span class="field-hint" data-one-time-left={secret.codeLeft({ seconds: "{seconds}" })} />
          </p>
        )}
        {type === "text" ? (
          <FieldValue id={id} value={value} />
        ) : (
          <details class="veil field-veil" data-field-veil>
            <summary aria-describedby={`${id}_label`}>
              <span class="veil-show">{type === "otp" ? secret.codeSeed : actions.show}</span>
              <span class="veil-hide">{actions.hide}</span>
            </summary>
            <ExactText id={id} text={value} />
          </details>
        )}
      </dd>
      <dd>
        <CopyButton of={copied} label={actions.copy} name={secret.copyField({ label })} />
      </dd>
    </div>
  );
}

/** Only absolute http and https addresses become links. */
function FieldValue({ id, value }: { readonly id: string; readonly value: string }) {
  if (!becomesLink(value)) return <ExactText id={id} text={value} />;
  return (
    <a
      id={id}
      class="exact-text"
      dir="ltr"
      href={value}
      target="_blank"
      rel="noreferrer noopener nofollow"
      referrerpolicy="no-referrer"
    >
      {value}
    </a>
  );
}
