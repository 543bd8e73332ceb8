import { PassphraseField } from "../new-push/fields.tsx";
import { Generator } from "../new-push/generator.tsx";
import { Address, FilesField, TextArea } from "../new-push/payload-fields.tsx";
import type { PageContext } from "../page.ts";
import { Checkbox } from "../parts/field.tsx";
import { Notice } from "../parts/notice.tsx";
import { type EditModel, mayHaveFiles } from "./model.ts";

export interface EditProps {
  readonly model: EditModel;
  readonly page: PageContext;
}

/** What only the push's data key opens. Nothing of it is shown: each field is for what takes its place. */
export function ContentFields({ model, page }: EditProps) {
  const { edit } = page.messages;
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
        messages={page.messages}
        field="passphrase"
        label={isProtected ? edit.newPassphrase : page.messages.newPush.passphrase}
        hint={isProtected ? edit.newPassphraseHint : page.messages.newPush.passphraseHint}
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
  const { edit } = page.messages;
  return (
    <>
      <Notice tone="info" icon="key">
        <h3 class="notice-heading">{edit.protectedHeading}</h3>
        <p>{edit.protectedText}</p>
        <p>{mayHaveFiles(model) ? edit.protectedWholeFiles : edit.protectedWhole}</p>
      </Notice>
      <PassphraseField
        messages={page.messages}
        field="current_passphrase"
        label={edit.currentPassphrase}
        hint={edit.currentPassphraseHint}
        value=""
        problem={model.problems.currentPassphrase}
      />
    </>
  );
}

function Replacement({ model, page: { messages } }: EditProps) {
  const label = messages.edit.newContent[model.kind];
  const field = { model, messages, label, hint: messages.edit.keepHint };
  switch (model.kind) {
    case "text":
      return (
        <>
          <TextArea {...field} rows={5} />
          <Generator messages={messages} />
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
  const { edit, formats } = page.messages;
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

function AddedFiles({ model, page: { messages } }: EditProps) {
  const { edit, formats } = messages;
  const { maxFileUploads, pushBytesMax } = model.limits;
  return (
    <FilesField
      {...{ model, messages, label: edit.addFiles, lost: model.filesLost }}
      hint={edit.addFilesHint({ count: maxFileUploads, size: formats.bytes(pushBytesMax) })}
    />
  );
}
