import type { ComponentChildren } from "preact";
import { useMessages, usePage } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { ConfirmFirst } from "./controls.tsx";
import { Controls, type FormProps, hasReadableLabels, offersAny, setIn, summaryOf } from "./fields.tsx";

export function LimitControls({ form, hint }: FormProps & { readonly hint?: ComponentChildren }) {
  const { newPush } = useMessages();
  return (
    <fieldset class="group" aria-describedby={hint === undefined ? undefined : "push_limits_hint"}>
      <legend class="visually-hidden">{newPush.limits}</legend>
      {hint !== undefined && (
        <p class="field-hint" id="push_limits_hint">
          {hint}
        </p>
      )}
      <div class="limits">
        <Controls group="limits" form={form} />
      </div>
    </fieldset>
  );
}

export function OptionControls({ form }: FormProps) {
  const messages = useMessages();
  if (!offersAny("options", form)) return null;
  return (
    <fieldset class="group">
      <legend>{messages.newPush.options}</legend>
      <Controls group="options" form={form} />
    </fieldset>
  );
}

export function LabelControls({ form }: FormProps) {
  const messages = useMessages();
  const { newPush } = messages;
  return (
    <fieldset class="group" aria-describedby="push_labels_hint">
      <legend>{newPush.labels}</legend>
      <p class="field-hint" id="push_labels_hint">
        {hasReadableLabels(form) ? newPush.labelsHint : messages.endToEnd.labelsNotEditable}
      </p>
      <Controls group="labels" form={form} />
    </fieldset>
  );
}

const folded = ["options", "sender", "labels", "mail"] as const;

/**
 * What few pushes need, behind one line that says what of it is set (`browser/parts/more-options.ts` keeps it current).
 * It is open where something inside is wrong.
 */
export function MoreOptions({ form }: FormProps) {
  const page = usePage();
  const { newPush, pushEmails } = page.messages;
  const { viewsAfterConfirmation } = form.mails;
  // Labels are a reason to edit a push: they are not folded there.
  const hasLabels = page.user !== null && form.edited === null;
  const groups = folded.filter((group) => (group === "labels" ? hasLabels : group !== "sender" || page.user !== null));
  if (!hasLabels && !offersAny("options", form) && !offersAny("mail", form)) return null;
  return (
    <details class="more" data-more open={summaryOf(groups, form, page).length > 0}>
      <summary class="line">
        <Icon name="down" />
        <span class="more-heading">{newPush.more}</span>
        <span class="more-set field-hint">
          {setIn(groups, form, page).map(({ id, text, count }) => (
            <span key={id} hidden={count === 0} data-set-by={id} data-template={text}>
              {text.replace("{count}", String(count))}
            </span>
          ))}
          <span class="more-nothing">{newPush.set.nothing}</span>
        </span>
      </summary>
      <div class="stack more-body">
        <div data-part="options">
          <OptionControls form={form} />
        </div>
        {/* It is not among the options, which a script replaces by those of another kind. */}
        {offersAny("sender", form) && (
          <div class="group">
            <Controls group="sender" form={form} />
          </div>
        )}
        {hasLabels && <LabelControls form={form} />}
        {(offersAny("mail", form) || viewsAfterConfirmation) && (
          <fieldset class="group">
            <legend>{pushEmails.legend}</legend>
            <Controls group="mail" form={form} />
            {viewsAfterConfirmation && <ConfirmFirst />}
          </fieldset>
        )}
      </div>
    </details>
  );
}
