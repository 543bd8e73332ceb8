import { dayMs, minuteMs } from "../../base/clock.ts";
import type { Config, KindSettings, Range } from "../../config/config.ts";
import { durationMinutes } from "../../http/push-fields.ts";
import type { Policy } from "../../policies/policies.ts";
import { accountPath } from "../account/path.ts";
import { pageHref, useMessages, usePage } from "../page.ts";
import { Button, Label, ShowButton } from "../parts/buttons.tsx";
import {
  InputField,
  NumberField,
  SelectField,
  type SelectFieldProps,
  TextAreaField,
  type TextFieldProps,
} from "../parts/fields.tsx";
import { FileInput } from "./file-input.tsx";
import type { ControlProps, PushForm } from "./form.ts";
import { type RuledField, ruleHint, sentences } from "./rule-hints.ts";

export function PayloadControl({ field, form }: ControlProps) {
  const { newPush, edit } = useMessages();
  const isNew = form.edited === null;
  const hint = isNew ? undefined : edit.keepHint;
  switch (form.kind) {
    case "text":
      return (
        <>
          <TextArea field={field} form={form} hint={hint} rows={5} required={isNew} />
          <Generator settings={form.generator} />
        </>
      );
    case "qr":
      return (
        <>
          <TextArea
            field={field}
            form={form}
            hint={hint}
            placeholder={isNew ? newPush.qrHint : undefined}
            rows={4}
            required={isNew}
          />
          <Generator settings={form.generator} />
        </>
      );
    case "url":
      return (
        <InputField
          {...field}
          hint={isNew ? newPush.urlHint : edit.keepHint}
          focus={isNew}
          input={{ type: "url", dir: "ltr", required: isNew, placeholder: "https://", autoComplete: "off" }}
        />
      );
    case "file":
      return <TextArea field={field} form={form} hint={hint} rows={3} required={false} />;
  }
}

interface TextAreaProps extends ControlProps {
  readonly placeholder?: string | undefined;
  readonly hint: string | undefined;
  readonly rows: number;
  readonly required: boolean;
}

/** Without a maxlength: a browser would silently cut a pasted secret. */
function TextArea({ field, form, hint, placeholder, rows, required }: TextAreaProps) {
  const { newPush, problems } = useMessages();
  const { id } = field;
  return (
    <div class="counted">
      <TextAreaField
        {...field}
        hint={hint}
        besideLabel={
          <>
            {form.kind === "text" && form.edited === null && (
              <Button label={newPush.fields.add} look="small" hidden data-scripted data-add-fields />
            )}
            <button type="button" class="button button-small conceal" hidden data-conceals={id} aria-pressed="false">
              <Label icon="eye" text={newPush.hidePayload} />
            </button>
          </>
        }
        rows={rows}
        placeholder={placeholder}
        focus={form.edited === null && required}
        area={{
          class: "input input-secret",
          required,
          spellcheck: false,
          autoComplete: "off",
          autoCapitalize: "off",
        }}
      />
      <p
        class="counter"
        hidden
        data-counter-of={id}
        data-limit={form.limits.payloadCharactersMax}
        data-over={problems.overLimit}
      >
        <span data-counter-number dir="ltr" />
        <strong class="counter-over" role="status" />
      </p>
    </div>
  );
}

/** The files that a push has, each with a box that removes it, and new ones. */
export function FilesControl(props: ControlProps) {
  const { edit, formats } = useMessages();
  const { field, form } = props;
  const { edited, takesFiles } = form;
  if (edited === null) return <FileInput {...props} />;
  return (
    <>
      {edited.files.length > 0 && (
        <fieldset
          class="stack-small kept-files"
          id="push_kept_files"
          data-stored
          aria-describedby="push_remove_files_hint"
        >
          <legend class="field-label">{edit.files}</legend>
          <p class="field-hint" id="push_remove_files_hint">
            {edit.filesRemoveHint}
          </p>
          <ul class="chosen-files">
            {edited.files.map(({ id, filename, sizeBytes }) => (
              <li key={id}>
                <label class="tick">
                  <input
                    type="checkbox"
                    name="push[remove_files][]"
                    value={id}
                    checked={form.removedFileIds.includes(id)}
                    data-kept-bytes={sizeBytes}
                  />
                  <span>{edit.removeFile.parts({ filename: <bdi key="filename">{filename}</bdi> })}</span>
                </label>
                <span class="field-hint">{formats.bytes(sizeBytes)}</span>
              </li>
            ))}
          </ul>
        </fieldset>
      )}
      {takesFiles ? (
        <FileInput {...props} />
      ) : (
        <p class={field.problem === undefined ? "field-hint" : "field-problem"} id={field.id}>
          {edit.filesOff}
        </p>
      )}
    </>
  );
}

const dayMinutes = dayMs / minuteMs;

/** The code of the expiry that the untouched form shows; "": it is a number of days without a code. */
export function initialDuration({ settings, expiryMinutes = settings.days.default * dayMinutes }: PushForm): string {
  const code = durationMinutes.indexOf(expiryMinutes);
  return code === -1 ? "" : String(code);
}

/** The times that clients of the API can name and that kind and policy allow, with their codes. */
export function offeredTimes({ days: { min, max } }: KindSettings, { maxMinutes }: Pick<Policy, "maxMinutes">) {
  return durationMinutes
    .map((minutes, code) => ({ minutes, code: String(code) }))
    .filter(({ minutes }) => Math.ceil(minutes / dayMinutes) >= min && Math.floor(minutes / dayMinutes) <= max)
    .filter(({ minutes }) => maxMinutes === null || minutes <= maxMinutes);
}

/** Whether any number of days is allowed. */
export function offersDays({ settings: { days } }: Pick<PushForm, "settings">): boolean {
  return days.min <= days.max;
}

/** The choice of an exact end, in place of a code of `expire_after_duration`. */
export const exactEnd = "at";

/** One of these times, any number of days, or an exact end: those of the fields after it. */
export function ExpiryControl({ field, form }: ControlProps) {
  const messages = useMessages();
  const { newPush, formats } = messages;
  const { maxMinutes } = form.policy;
  const times = offeredTimes(form.settings, form.policy).map(({ minutes, code }) => ({
    value: code,
    label: formats.timeSpan(minutes),
  }));
  // A rule may allow less than every time with a code. Without one, the server takes the longest life.
  const isShort = times.length === 0 && !offersDays(form) && maxMinutes !== null;
  return (
    <SelectField
      {...field}
      options={[
        ...times,
        ...(isShort ? [{ value: "", label: formats.timeSpan(maxMinutes) }] : []),
        ...(offersDays(form) ? [{ value: "", label: newPush.otherDays }] : []),
        { value: exactEnd, label: newPush.exactEnd },
      ]}
      hint={sentences(ruleHint("expireAfterDuration", form.policy, messages))}
    />
  );
}

interface RangeControlProps extends ControlProps {
  readonly range: Pick<Range, "min" | "max">;
  readonly rule: RuledField | null;
}

export function RangeControl({ range: { min, max }, rule, field, form }: RangeControlProps) {
  const messages = useMessages();
  const ruled = rule === null ? "" : ruleHint(rule, form.policy, messages);
  return (
    <NumberField
      {...field}
      hint={sentences(messages.newPush.range({ min, max }), ruled)}
      range={{ min, max }}
      required
    />
  );
}

interface PassphraseFieldProps extends TextFieldProps {
  /** Adds a button that suggests a passphrase. */
  readonly suggest?: boolean;
  /** The limit holds where the browser seals and the server does not see it, too; counted in UTF-16. */
  readonly minLength?: number | undefined;
}

/** `new-password` for each: it keeps browsers from filling in the password of the account. */
export function PassphraseField({
  suggest = false,
  placeholder,
  required = false,
  minLength,
  ...field
}: PassphraseFieldProps) {
  const { newPush } = useMessages();
  return (
    <InputField
      {...field}
      input={{ type: "password", autoComplete: "new-password", spellcheck: false, placeholder, required, minLength }}
      besideLabel={
        suggest ? (
          <Button
            label={newPush.suggestPassphrase}
            icon="dice"
            look="small"
            hidden
            data-scripted
            data-suggest-passphrase={field.id}
          />
        ) : undefined
      }
      inside={<ShowButton of={field.id} />}
    />
  );
}

interface RecipientsFieldProps extends Omit<TextFieldProps, "id"> {
  readonly limits: Pick<PushForm["limits"], "recipientsMax">;
  /** What the rules say about the recipients; "": nothing. */
  readonly rule: string;
}

export function RecipientsField({ limits, rule, required = false, ...field }: RecipientsFieldProps) {
  const { pushEmails } = useMessages();
  return (
    <InputField
      {...field}
      id="push_notify_emails_to"
      hint={sentences(pushEmails.toHint({ count: limits.recipientsMax }), rule)}
      input={{ type: "email", multiple: true, dir: "ltr", autoComplete: "off", required }}
    />
  );
}

export function MailLanguageField(field: Pick<SelectFieldProps, "name" | "value" | "problem">) {
  const { languages, messages } = usePage();
  const options = languages.map(({ locale: { tag, name } }) => ({ value: tag, label: name, lang: tag }));
  const { locale: label } = messages.pushEmails;
  return <SelectField {...field} id="push_notify_emails_to_locale" label={label} options={options} />;
}

/** Links to the account page, where the address for view notifications is confirmed. */
export function ConfirmFirst() {
  const page = usePage();
  const { confirmFirst, confirmFirstLink } = page.messages.pushEmails;
  const link = (
    <a key="link" href={`${pageHref(page, accountPath)}#email_section`}>
      {confirmFirstLink}
    </a>
  );
  return <p class="field-hint">{confirmFirst.parts({ link })}</p>;
}

const charactersDefault = 20;
const wordsDefault = 5;
/** The greatest number of syllables that can be chosen, unless the setting is higher. */
const syllablesOffered = 12;

/**
 * Generates passwords in the browser; hidden until its script runs. `form=""` keeps its controls out of the surrounding
 * form, so that a suggestion is sent only after it was copied into the payload.
 */
function Generator({ settings }: { readonly settings: Config["generator"] }) {
  const { generator } = useMessages();
  const { startsWithSyllables, syllableLetters } = settings;
  const answers = { replace: generator.replace, insert: generator.insert, "": generator.keep };
  return (
    <div class="line generator" hidden data-scripted data-generator="push_payload">
      <Button label={generator.heading} icon="dice" data-generate />
      <details>
        <summary class="generator-summary">
          <Label icon="down" text={generator.format} />
        </summary>
        <div class="generator-body">
          <GeneratorModes startsWithSyllables={startsWithSyllables} />
          <div class="stack-small" data-choices="characters" hidden={startsWithSyllables}>
            <Amount id="generator_length" label={generator.length} min={8} max={64} value={charactersDefault} />
            <Tick name="generator_symbols" label={generator.symbols} checked />
          </div>
          <div class="stack-small" data-choices="words" hidden>
            <Amount id="generator_words" label={generator.wordCount} min={3} max={10} value={wordsDefault} />
            <Tick name="generator_embellish" label={generator.numberAndCapitals} />
          </div>
          <div
            class="stack-small"
            data-choices="syllables"
            data-letters-min={syllableLetters.min}
            data-letters-max={syllableLetters.max}
            data-consonants={settings.consonants}
            data-vowels={settings.vowels}
            data-separators={settings.separators}
            hidden={!startsWithSyllables}
          >
            <Amount
              id="generator_syllables"
              label={generator.syllableCount}
              min={1}
              max={Math.max(syllablesOffered, settings.syllables)}
              value={settings.syllables}
            />
            <Tick name="generator_capitals" label={generator.capitals} checked={settings.capitals} />
            <Tick name="generator_digits" label={generator.digits} checked={settings.digits} />
            <Tick name="generator_separated" label={generator.separators} checked={settings.separated} />
          </div>
          <p class="field-hint">{generator.local}</p>
        </div>
      </details>
      <p class="field-hint" role="status" data-strength={generator.strength({ bits: "{bits}" })} />
      {/* Shown when the text area has a text already. */}
      <fieldset class="line generator-ask" hidden data-ask>
        <legend>{generator.ask}</legend>
        {Object.entries(answers).map(([answer, label]) => (
          <Button label={label} look="small" key={answer} data-put={answer} />
        ))}
      </fieldset>
    </div>
  );
}

function GeneratorModes({ startsWithSyllables }: { readonly startsWithSyllables: boolean }) {
  const { generator } = useMessages();
  const modes = [
    { value: "characters", label: generator.password, checked: !startsWithSyllables },
    { value: "words", label: generator.words, checked: false },
    { value: "syllables", label: generator.syllables, checked: startsWithSyllables },
  ];
  return (
    <fieldset class="generator-modes">
      <legend class="visually-hidden">{generator.heading}</legend>
      {modes.map(({ value, label, checked }) => (
        <label key={value} class="generator-mode">
          <input type="radio" name="generator_mode" value={value} form="" checked={checked} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Tick({
  name,
  label,
  checked = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly checked?: boolean;
}) {
  return (
    <label class="tick">
      <input type="checkbox" name={name} form="" checked={checked} />
      <span>{label}</span>
    </label>
  );
}

interface AmountProps {
  /** It is the name of the control too. */
  readonly id: string;
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly value: number;
}

function Amount({ id, label, min, max, value }: AmountProps) {
  return (
    <div class="range">
      <label for={id}>{label}</label>
      <span class="range-value" aria-hidden="true">
        {value}
      </span>
      <input type="range" id={id} name={id} min={min} max={max} value={value} form="" />
    </div>
  );
}
