import { readCreatePush } from "../../http/push-fields.ts";
import type { EditablePush, EditPush } from "../../pushes/pushes.ts";
import type { PushFields } from "../new-push/handler.ts";
import { type EditValues, untouched } from "./model.ts";

/** Those that a push can be made with, and that an edit may change. */
const sharedFields = [
  "payload",
  "expire_after_days",
  "expire_after_views",
  "deletable_by_viewer",
  "retrieval_step",
  "passphrase",
  "name",
  "note",
  "notify_on_view",
] as const;

/** @throws AppError invalid_fields (by domain name), too_large (payload). */
export function readEdit(fields: PushFields, values: EditValues, { push }: EditablePush): Omit<EditPush, "upload"> {
  const given = Object.fromEntries(sharedFields.map((name) => [name, fields[name]]));
  const { payload, ...shared } = readCreatePush(given).request;
  const removesMessage = push.kind === "file" && values.removeMessage;
  return {
    ...shared,
    ...(payload === undefined || (payload === "" && !removesMessage) ? {} : { payload }),
    ...(payload === undefined && removesMessage ? { payload: "" } : {}),
    ...(shared.passphrase === undefined && values.removePassphrase ? { passphrase: null } : {}),
    removedFileIds: values.removedFileIds,
    currentPassphrase: textIn(fields, "current_passphrase") ?? "",
  };
}

/** What was entered; for what was not sent, how the push stands. */
export function valuesOf(fields: PushFields, editable: EditablePush): EditValues {
  const { values } = untouched(editable);
  const isTicked = (name: string, otherwise = false) => {
    const value = textIn(fields, name);
    return value === undefined ? otherwise : value === "1";
  };
  return {
    payload: textIn(fields, "payload") ?? "",
    passphrase: textIn(fields, "passphrase") ?? "",
    expireAfterDays: textIn(fields, "expire_after_days") ?? values.expireAfterDays,
    expireAfterViews: textIn(fields, "expire_after_views") ?? values.expireAfterViews,
    retrievalStep: isTicked("retrieval_step", values.retrievalStep),
    deletableByViewer: isTicked("deletable_by_viewer", values.deletableByViewer),
    name: textIn(fields, "name") ?? values.name,
    note: textIn(fields, "note") ?? values.note,
    notifyOnView: isTicked("notify_on_view", values.notifyOnView),
    removedFileIds: idsIn(fields.remove_files),
    removeMessage: isTicked("remove_message"),
    removePassphrase: isTicked("remove_passphrase"),
  };
}

function textIn(fields: PushFields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

const idShape = /^\d{1,15}$/;
/** No file has it: what is no id is refused like one that is not of this push. */
const noId = -1;

function idsIn(value: unknown): readonly number[] {
  if (!Array.isArray(value)) return [];
  return value.map((id) => (typeof id === "string" && idShape.test(id) ? Number(id) : noId));
}
