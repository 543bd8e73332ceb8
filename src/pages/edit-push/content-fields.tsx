import { Generator } from "../new-push/generator.tsx";
import { Address, TextArea } from "../new-push/payload-fields.tsx";
import type { PageContext } from "../page-context.ts";
import { Checkbox, Field } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { type EditModel, mayHaveFiles } from "./model.ts";

export interface EditProps {
  readonly model: EditModel;
  readonly page: PageContext;
}

/** What only the push's data key opens. Nothing of it is shown: each field is for what takes its place. */
export function ContentFields({ model, page }: EditProps) {
  const { edit } = page.words;
  const isProtected = model.push.passphraseRequired;
  return (
    <fieldset class="group">
      <legend>{edit.content}</legend>
      {isProtected && <Protected model={model} page={page} />}
      {mayHaveFiles(model) && <Files model={model} page={page} />}
      <Replacement model={model} page={page} />
      {model.kind === "file" && (
        <Checkbox
          id="push_remove_message"
          name="push[remove_message]"
          label={edit.removeMessage}
          hint={edit.removeMessageHint}
          checked={model.values.removeMessage}
        />
      )}
      <PassphraseField
        page={page}
        id="push_passphrase"
        name="push[passphrase]"
        label={isProtected ? edit.newPassphrase : page.words.newPush.passphrase}
        hint={isProtected ? edit.newPassphraseHint : page.words.newPush.passphraseHint}
        value={model.values.passphrase}
        problem={model.problems.passphrase}
        suggest
      />
      {isProtected && (
        <Checkbox
          id="push_remove_passphrase"
          name="push[remove_passphrase]"
          label={edit.removePassphrase}
          hint={edit.removePassphraseHint}
          checked={model.values.removePassphrase}
        />
      )}
    </fieldset>
  );
}

function Protected({ model, page }: EditProps) {
  const { edit } = page.words;
  return (
    <>
      <Notice tone="info" icon="key">
        <h3 class="notice-heading">{edit.protectedHeading}</h3>
        <p>{edit.protectedText}</p>
        <p>{mayHaveFiles(model) ? edit.protectedWholeFiles : edit.protectedWhole}</p>
      </Notice>
      <PassphraseField
        page={page}
        id="push_current_passphrase"
        name="push[current_passphrase]"
        label={edit.currentPassphrase}
        hint={edit.currentPassphraseHint}
        value=""
        problem={model.problems.currentPassphrase}
      />
    </>
  );
}

function Replacement({ model, page: { words } }: EditProps) {
  const label = words.edit.newContent[model.kind];
  const field = { model, words, label, hint: words.edit.keepHint };
  switch (model.kind) {
    case "text":
      return (
        <>
          <TextArea {...field} rows={5} />
          <Generator words={words} />
        </>
      );
    case "qr":
      return <TextArea {...field} rows={4} />;
    case "url":
      return <Address {...field} />;
    case "file":
      return <TextArea {...field} rows={3} />;
  }
}

function Files({ model, page }: EditProps) {
  const { edit, formats } = page.words;
  return (
    <>
      {model.files.length > 0 && (
        <fieldset class="kept-files" aria-describedby="push_remove_files_hint">
          <legend class="field-label">{edit.files}</legend>
          <p class="field-hint" id="push_remove_files_hint">
            {edit.filesRemoveHint}
          </p>
          <ul>
            {model.files.map(({ id, filename, sizeBytes }) => (
              <li key={id}>
                <label class="tick">
                  <input
                    type="checkbox"
                    name="push[remove_files][]"
                    value={id}
                    checked={model.values.removedFileIds.includes(id)}
                  />
                  <span>{edit.removeFile.parts({ filename: <bdi key="filename">{filename}</bdi> })}</span>
                </label>
                <span class="kept-file-size">{formats.bytes(sizeBytes)}</span>
              </li>
            ))}
          </ul>
        </fieldset>
      )}
      {model.takesFiles ? (
        <AddedFiles model={model} page={page} />
      ) : (
        <p class={model.problems.files === undefined ? "field-hint" : "field-problem"} id="push_files">
          {edit.filesOff}
        </p>
      )}
    </>
  );
}

function AddedFiles({ model, page: { words } }: EditProps) {
  const { edit, newPush, formats } = words;
  const { maxFileUploads, pushBytesMax } = model.limits;
  return (
    <div>
      <Field
        id="push_files"
        label={edit.addFiles}
        hint={edit.addFilesHint({ count: maxFileUploads, size: formats.bytes(pushBytesMax) })}
        problem={model.problems.files ?? (model.filesLost ? newPush.filesAgain : undefined)}
        control={(attributes) => (
          <input
            {...attributes}
            class="input input-files"
            type="file"
            name="push[files][]"
            multiple={maxFileUploads > 1}
          />
        )}
      />
      <ul class="chosen-files" aria-label={newPush.filesChosen} hidden data-chosen-files="push_files" />
    </div>
  );
}

interface PassphraseFieldProps {
  readonly page: PageContext;
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly suggest?: boolean;
}

/** `new-password` for both: it keeps browsers from filling in the password of the account. */
function PassphraseField({ page, id, name, label, hint, value, problem, suggest = false }: PassphraseFieldProps) {
  const { actions, newPush } = page.words;
  return (
    <Field
      id={id}
      label={label}
      hint={hint}
      problem={problem}
      control={(attributes) => (
        <div class="input-row">
          <input
            {...attributes}
            class="input"
            type="password"
            name={name}
            value={value}
            autoComplete="new-password"
            spellcheck={false}
          />
          <button type="button" class="button" hidden data-scripted data-show={id} data-label-hide={actions.hide}>
            <Icon name="eye" />
            <span data-show-label>{actions.show}</span>
          </button>
          {suggest && (
            <button type="button" class="button" hidden data-scripted data-suggest-passphrase={id}>
              <Icon name="dice" />
              <span>{newPush.suggestPassphrase}</span>
            </button>
          )}
        </div>
      )}
    />
  );
}
