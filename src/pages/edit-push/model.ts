import type { FieldProblems } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import type { Messages } from "../../i18n/i18n.ts";
import type { EditablePush, OwnedPush } from "../../pushes/pushes.ts";
import { limitsOf } from "../new-push/limits.ts";
import {
  describeProblems,
  type NewPushField,
  type NewPushModel,
  type OfferedMails,
  type PushValues,
} from "../new-push/model.ts";

/** What a person entered, but for the current passphrase: that is typed anew each time. */
export interface EditValues extends PushValues {
  readonly removedFileIds: readonly number[];
  readonly removeMessage: boolean;
  readonly removePassphrase: boolean;
}

export type EditField = NewPushField | "currentPassphrase";
export type EditProblems = Readonly<Partial<Record<EditField, string>>>;

export interface EditModel extends Pick<NewPushModel, "kind" | "settings" | "limits" | "unavailable"> {
  /** How the push stands now, whatever was entered. */
  readonly push: OwnedPush;
  readonly files: EditablePush["files"];
  /** Whether the server takes files at all; those that are in it may stay either way. */
  readonly takesFiles: boolean;
  readonly values: EditValues;
  readonly problems: EditProblems;
  /** Another edit came first: nothing of this one was saved. */
  readonly changedMeanwhile: boolean;
  /** Files came with a form that is sent back: a browser does not choose them again. */
  readonly filesLost: boolean;
  readonly mails: OfferedMails;
}

/** What a form shows beside the push itself. */
export type EditState = Pick<EditModel, "values" | "problems" | "unavailable" | "changedMeanwhile" | "filesLost">;

/** The form as nobody has touched it. */
export function untouched({ push }: EditablePush): EditState {
  const values = {
    payload: "",
    passphrase: "",
    expireAfterDays: String(push.expireAfterDays),
    expireAfterViews: String(push.expireAfterViews),
    retrievalStep: push.retrievalStep,
    deletableByViewer: push.deletableByViewer,
    name: push.name ?? "",
    note: push.note ?? "",
    notifyOnView: push.notifyOnView,
    removedFileIds: [],
    removeMessage: false,
    removePassphrase: false,
  };
  return { values, problems: {}, unavailable: false, changedMeanwhile: false, filesLost: false };
}

export function editModel(
  editable: EditablePush,
  state: EditState,
  { config, mails }: { readonly config: Config; readonly mails: OfferedMails },
): EditModel {
  const { push, files } = editable;
  const { kind } = push;
  const settings = {
    ...config.kinds[kind],
    days: { ...editable.days, default: push.expireAfterDays },
    views: { ...editable.views, default: push.expireAfterViews },
  };
  const takesFiles = config.kinds.file.enabled;
  return { kind, settings, limits: limitsOf(kind, config), push, files, takesFiles, mails, ...state };
}

/** The files of a push may be changed where it has some: then it is a file push, or one of another kind with files. */
export function mayHaveFiles({ kind, files }: Pick<EditModel, "kind" | "files">): boolean {
  return kind === "file" || files.length > 0;
}

/** The domain's problems, by field, as sentences of the page's language. */
export function describeEditProblems(
  found: FieldProblems,
  model: Pick<EditModel, "kind" | "settings" | "limits">,
  messages: Messages,
): EditProblems {
  const { kind: kindOff, ...described } = describeProblems(found, model, messages);
  const { maxFileUploads, passphraseCharactersMax } = model.limits;
  const problems: Partial<Record<EditField, string>> = described;
  if (found.files !== undefined) problems.files = messages.edit.filesProblem({ count: maxFileUploads });
  if (found.currentPassphrase !== undefined) {
    problems.currentPassphrase = messages.problems.tooLong({ max: passphraseCharactersMax });
  }
  if (kindOff === undefined) return problems;
  return { ...problems, payload: kindOff };
}
