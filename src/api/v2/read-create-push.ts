import { minuteMs } from "../../base/clock.ts";
import { AppError, invalidFields } from "../../base/errors.ts";
import type { CreatePush } from "../../pushes/pushes.ts";
import { CreatePushFields, durationMinutes, jsonFilesBytesMax, payloadBytesMax } from "./schemas.ts";
import { fieldsReader } from "./wire-types.ts";

export interface DecodedFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface ReadPush {
  readonly request: Omit<CreatePush, "upload">;
  /** Files that came inside the JSON, not yet part of an upload. */
  readonly files: readonly DecodedFile[];
}

const reader = fieldsReader(CreatePushFields);

/**
 * @param fields of one push by wire name, as JSON or a form sent them.
 * @throws AppError invalid_fields (by domain name), too_large (payload over 4 MiB, files over 8 MiB).
 */
export function readCreatePush(fields: object): ReadPush {
  const problems = new Map<string, string>();
  const given = reader.read(fields, problems);
  const files = (given.files ?? []).map((file) => decodeFile(file, problems));
  refuseProblems(problems);
  assertSize(given.payload ?? "", files);
  const duration = given.expire_after_duration;
  const minutes = duration === undefined ? undefined : durationMinutes[duration];
  const request = withoutUndefined({
    kind: given.kind,
    payload: given.payload,
    mentionsFiles: given.files === undefined ? undefined : true,
    expireAfterDays: given.expire_after_days,
    expireAfterViews: given.expire_after_views,
    expireAfterMs: minutes === undefined ? undefined : minutes * minuteMs,
    deletableByViewer: given.deletable_by_viewer,
    retrievalStep: given.retrieval_step,
    passphrase: given.passphrase === "" ? undefined : given.passphrase,
    name: given.name,
    note: given.note,
    notifyEmailsTo: given.notify_emails_to,
    notifyEmailsToLocale: given.notify_emails_to_locale,
    notifyOnView: given.notify_on_view,
  });
  return { request, files };
}

/** @throws AppError invalid_fields (by domain name). */
export function refuseProblems(problems: ReadonlyMap<string, string>): void {
  if (problems.size === 0) return;
  throw invalidFields(Object.fromEntries([...problems].map(([name, problem]) => [domainName(name), [problem]])));
}

/** `expire_after_days` -> `expireAfterDays`. */
function domainName(wireName: string): string {
  return wireName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `-` and `_` (base64url), blanks and missing padding are refused: what decodes loosely decodes to something else. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeFile(
  file: { filename: string; content_type?: string; data: string },
  problems: Map<string, string>,
): DecodedFile {
  if (!isBase64(file.data)) problems.set("files", "must have their data in base64 with padding.");
  return {
    filename: file.filename,
    contentType: file.content_type ?? "application/octet-stream",
    bytes: Buffer.from(file.data, "base64"),
  };
}

/** In pieces: one expression over megabytes could exhaust the stack of the pattern engine. */
function isBase64(text: string): boolean {
  const pieceCharacters = 4 * 4_096;
  if (text.length % 4 !== 0) return false;
  for (let at = 0; at < text.length; at += pieceCharacters) {
    const piece = text.slice(at, at + pieceCharacters);
    if (!base64.test(piece) || (piece.endsWith("=") && at + pieceCharacters < text.length)) return false;
  }
  return true;
}

function assertSize(payload: string, files: readonly DecodedFile[]): void {
  // A UTF-16 transaction becomes at most three bytes: only a long payload has to be measured.
  if (payload.length * 3 > payloadBytesMax && Buffer.byteLength(payload) > payloadBytesMax) {
    throw new AppError("too_large", `The payload may have ${payloadBytesMax} bytes.`);
  }
  if (files.reduce((sum, file) => sum + file.bytes.length, 0) > jsonFilesBytesMax) {
    throw new AppError("too_large", `Files inside JSON may have ${jsonFilesBytesMax} bytes. Send a multipart form.`);
  }
}

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function withoutUndefined<Fields extends object>(fields: Fields): Given<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<Fields>;
}
