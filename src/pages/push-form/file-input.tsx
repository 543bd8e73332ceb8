import { useMessages } from "../page.ts";
import { InputField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { SendingMeter } from "../parts/sending-meter.tsx";
import { uploadsPath } from "../uploads.ts";
import type { ControlProps } from "./form.ts";

/**
 * The field that chooses files. Its script (browser/parts/files.ts) lists them, adds dropped and pasted ones, and checks
 * count and size; the texts that it needs are in attributes.
 */
export function FileInput({ field: { id, name, label, problem }, form }: ControlProps) {
  const { newPush, edit, files, formats, problems } = useMessages();
  const { maxFileUploads, pushBytesMax } = form.limits;
  const isNew = form.edited === null;
  const bounds = { count: maxFileUploads, size: formats.bytes(pushBytesMax) };
  const counted = { count: "{count}", countMax: "{countMax}", size: "{size}", sizeMax: "{sizeMax}" };
  return (
    <div
      class="file-picker"
      data-files={id}
      data-count-max={maxFileUploads}
      data-bytes-max={pushBytesMax}
      data-total={files.total(counted)}
      data-too-many={problems.files({ count: maxFileUploads })}
      data-too-large={problems.filesTooLarge({ size: bounds.size })}
      data-uploads={uploadsPath}
      data-uploads-name="push[uploads][]"
      data-failed={files.failed}
      data-remove={edit.removeFile({ filename: "{filename}" })}
    >
      <InputField
        id={id}
        name={`${name}[]`}
        label={label}
        hint={isNew ? newPush.filesHint(bounds) : edit.addFilesHint(bounds)}
        problem={problem ?? (form.filesLost ? newPush.filesAgain : undefined)}
        focus={isNew}
        input={{ class: "input input-files", type: "file", multiple: maxFileUploads > 1, required: isNew }}
      />
      <p class="field-hint drop-hint" hidden data-scripted>
        {files.dropHint}
      </p>
      <p class="field-problem" role="alert" data-files-problem />
      <ul class="chosen-files" aria-label={newPush.filesChosen} hidden />
      <p class="field-hint" role="status" data-files-total />
      <SendingMeter />
      <template>
        <li>
          <bdi />
          <span class="field-hint" data-size />
          <button type="button" class="button button-icon button-quiet-danger">
            <Icon name="trash" />
          </button>
        </li>
      </template>
    </div>
  );
}
