import { type FieldType, fieldsText, fieldTypes, findFieldProblems, type PushField } from "./fields.ts";
import { findIdentity } from "./key-check.ts";

/**
 * What is sealed says what it is, so that a server cannot show one part of a push in place of another: see
 * docs/end-to-end.md. A text that does not begin like this is a payload without a list of files.
 */
const beginning = '{"sealpush":';
const formatNumber = 1;

/** What was opened is not what the reader wants, or is in a format that this version does not know. */
export class UnexpectedContentError extends Error {
  override readonly name = "UnexpectedContentError";
}

/** A file of a push. It is sealed for an identity of its own, which only this list contains: no other file opens with it. */
export interface SealedFileDetails {
  /** The name under which the sealed file is stored. */
  readonly stored: string;
  readonly name: string;
  /** A media type; "": unknown. */
  readonly type: string;
  /** The bytes of the file itself. */
  readonly size: number;
  readonly identity: string;
}

interface NewContent {
  /** "": none. */
  readonly text: string;
  readonly files: readonly SealedFileDetails[];
}

interface NewPayload extends NewContent {
  /** Instead of the text. */
  readonly fields?: readonly PushField[] | undefined;
}

export interface OpenedContent {
  /** "": none. Structured fields are lines here, `label: value`. */
  readonly text: string;
  /** Absent: the content is a text. */
  readonly fields?: readonly PushField[];
  /** null: somebody sealed the text without a list, for example with the age tool. Files beside it are not protected. */
  readonly files: readonly SealedFileDetails[] | null;
}

/** A name or a note, which only the owner of a push sees. */
export type LabelKind = "name" | "note";

/** The content of a push. A text without files stays as it is, so that the age tool prints it. */
export function writePayload({ text, fields, files }: NewPayload): string {
  if (fields !== undefined) return write({ is: "payload", fields, files });
  const isPlain = files.length === 0 && !text.startsWith(beginning);
  return isPlain ? text : write({ is: "payload", text, files });
}

/** @param request the url_token of the request that is answered. */
export function writeAnswer(request: string, { text, files }: NewContent): string {
  return write({ is: "answer", request, text, files });
}

export function writeLabel(is: LabelKind, text: string): string {
  return write({ is, text });
}

function write(content: object): string {
  return JSON.stringify({ sealpush: formatNumber, ...content });
}

/**
 * Reads the content of a push.
 * @param request the url_token of the request that the link belongs to; null: a payload is wanted, and no answer.
 * @throws UnexpectedContentError
 */
export function readContent(opened: string, request: string | null): OpenedContent {
  if (request === null) {
    if (!opened.startsWith(beginning)) return { text: opened, files: null };
    const { text, fields, files } = readObject(opened, "payload", ["text", "fields", "files"]);
    if ((text === undefined) === (fields === undefined)) throw unexpected("It has no text, or fields beside it.");
    if (fields === undefined) return { text: readText(text), files: readFiles(files) };
    const read = readFields(fields);
    return { text: fieldsText(read), fields: read, files: readFiles(files) };
  }
  const content = readObject(opened, "answer", ["request", "text", "files"]);
  if (content.request !== request) throw unexpected("It answers another request.");
  return { text: readText(content.text), files: readFiles(content.files) };
}

/** @throws UnexpectedContentError */
export function readLabel(opened: string, is: LabelKind): string {
  return readText(readObject(opened, is, ["text"]).text);
}

type JsonObject = Readonly<Record<string, unknown>>;

function readObject(opened: string, is: string, keys: readonly string[]): JsonObject {
  const content = opened.startsWith(beginning) ? parse(opened) : undefined;
  if (!isObject(content) || content.sealpush !== formatNumber || content.is !== is) {
    throw unexpected(`It is no ${is} in a known format.`);
  }
  refuseOtherKeys(content, ["sealpush", "is", ...keys]);
  return content;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuseOtherKeys(content: JsonObject, keys: readonly string[]): void {
  if (!Object.keys(content).every((key) => keys.includes(key))) throw unexpected("It has an unknown key.");
}

function readText(text: unknown): string {
  if (typeof text !== "string") throw unexpected("It has no text.");
  return text;
}

function readFields(fields: unknown): readonly PushField[] {
  if (!Array.isArray(fields)) throw unexpected("It has no list of fields.");
  const read = fields.map((field: unknown) => {
    if (!isObject(field)) throw unexpected("A field is no object.");
    refuseOtherKeys(field, ["label", "value", "type"]);
    const type = field.type ?? "text";
    if (!isFieldType(type)) throw unexpected("A field has an unknown type.");
    return { label: readText(field.label), value: readText(field.value), type };
  });
  // A label could otherwise show one value as another one.
  if (findFieldProblems(read).length > 0) throw unexpected("Its fields are not valid.");
  return read;
}

function isFieldType(type: unknown): type is FieldType {
  return fieldTypes.some((known) => known === type);
}

function readFiles(files: unknown): readonly SealedFileDetails[] {
  if (files === undefined) return [];
  if (!Array.isArray(files)) throw unexpected("It has no list of files.");
  const list = files.map(readDetails);
  if (new Set(list.map(({ stored }) => stored)).size < list.length) throw unexpected("Two files have the same name.");
  return list;
}

function readDetails(details: unknown): SealedFileDetails {
  if (!isObject(details)) throw unexpected("A file is no object.");
  refuseOtherKeys(details, ["stored", "name", "type", "size", "identity"]);
  const { size } = details;
  const [stored, name, type, identity] = [details.stored, details.name, details.type, details.identity].map(readText);
  if (stored === undefined || name === undefined || type === undefined || identity === undefined) {
    throw unexpected("A file has no name.");
  }
  if (findIdentity(identity) === undefined) throw unexpected("A file has no identity.");
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) throw unexpected("A file has no size.");
  return { stored, name, type, size, identity };
}

function unexpected(problem: string): UnexpectedContentError {
  return new UnexpectedContentError(problem);
}
