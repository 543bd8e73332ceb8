import type { Messages } from "../../i18n/i18n.ts";
import { keepFirstLineEnd } from "../parts/exact-text.tsx";
import { Field } from "../parts/field.tsx";
import { InputField } from "../parts/input-fields.tsx";
import { Generator } from "./generator.tsx";
import type { NewPushModel, PushValues } from "./model.ts";

export interface PayloadProps {
  readonly model: Pick<NewPushModel, "kind" | "settings" | "limits" | "problems"> & { readonly values: PushValues };
  readonly messages: Messages;
}

/** What is handed over: each kind asks for it in its own way. */
export function PayloadFields({ model, messages }: PayloadProps) {
  const { newPush } = messages;
  const max = model.limits.payloadCharactersMax;
  switch (model.kind) {
    case "text":
      return (
        <>
          <TextArea
            model={model}
            messages={messages}
            label={newPush.text}
            hint={newPush.textHint({ max })}
            rows={7}
            required
          />
          <Generator messages={messages} />
        </>
      );
    case "qr":
      return (
        <TextArea
          model={model}
          messages={messages}
          label={newPush.qr}
          hint={newPush.qrHint({ max })}
          rows={4}
          required
        />
      );
    case "url":
      return <Address model={model} messages={messages} label={newPush.url} hint={newPush.urlHint} required />;
    case "file":
      return (
        <>
          <Files model={model} messages={messages} />
          <TextArea model={model} messages={messages} label={newPush.fileMessage} rows={3} />
        </>
      );
  }
}

interface TextAreaProps extends PayloadProps {
  readonly label: string;
  readonly hint?: string;
  readonly rows: number;
  readonly required?: boolean;
}

/** No maxlength: a browser would cut a pasted secret without a word. */
export function TextArea({ model, messages, label, hint, rows, required = false }: TextAreaProps) {
  return (
    <div class="counted">
      <Field
        id="push_payload"
        label={label}
        {...(hint === undefined ? {} : { hint })}
        problem={model.problems.payload}
        control={(attributes) => (
          <textarea
            {...attributes}
            class="input input-secret"
            name="push[payload]"
            rows={rows}
            dir="auto"
            required={required}
            spellcheck={false}
            autoComplete="off"
            autoCapitalize="off"
            data-count
          >
            {keepFirstLineEnd(model.values.payload)}
          </textarea>
        )}
      />
      <p
        class="counter"
        hidden
        data-counter-of="push_payload"
        data-limit={model.limits.payloadCharactersMax}
        data-over={messages.problems.overLimit}
      >
        <span data-counter-number dir="ltr" />
        <strong class="counter-over" role="status" />
      </p>
    </div>
  );
}

interface AddressProps extends PayloadProps {
  readonly label: string;
  readonly hint: string;
  readonly required?: boolean;
}

export function Address({ model, label, hint, required = false }: AddressProps) {
  const { values, problems } = model;
  return (
    <InputField
      {...{ id: "push_payload", name: "push[payload]", label, hint }}
      value={values.payload}
      problem={problems.payload}
      input={{ type: "url", dir: "ltr", required, placeholder: "https://", autoComplete: "off" }}
    />
  );
}

function Files({ model, messages }: PayloadProps) {
  const { newPush, formats } = messages;
  const { maxFileUploads, pushBytesMax } = model.limits;
  const sentBack = Object.keys(model.problems).length > 0;
  return (
    <FilesField
      {...{ model, messages, label: newPush.files, lost: sentBack }}
      hint={newPush.filesHint({ count: maxFileUploads, size: formats.bytes(pushBytesMax) })}
      required
    />
  );
}

interface FilesFieldProps extends PayloadProps {
  readonly label: string;
  readonly hint: string;
  /** Files may have come with the form that is sent back: a browser forgets which. */
  readonly lost: boolean;
  readonly required?: boolean;
}

export function FilesField({ model, messages: { newPush }, label, hint, lost, required = false }: FilesFieldProps) {
  return (
    <div>
      <Field
        id="push_files"
        label={label}
        hint={hint}
        problem={model.problems.files ?? (lost ? newPush.filesAgain : undefined)}
        control={(attributes) => (
          <input
            {...attributes}
            class="input input-files"
            type="file"
            name="push[files][]"
            multiple={model.limits.maxFileUploads > 1}
            required={required}
          />
        )}
      />
      <ul class="chosen-files" aria-label={newPush.filesChosen} hidden data-chosen-files="push_files" />
    </div>
  );
}
