import { AppError } from "../../base/errors.ts";
import { percentDecoded } from "../../base/percent-decoded.ts";
import type { BodyHold } from "./body-intake.ts";
import { decodeText, textsTooLarge } from "./body-parser.ts";
import { charsetNamed, textDecoder } from "./decoded-body.ts";
import { typeOfFile } from "./file-type.ts";
import { FormFieldCollector, type FormFields, formPairsMax } from "./form-fields.ts";
import { contentDecoder } from "./transfer-encoding.ts";

export interface FormFile {
  /** The field's name, e.g. `push[files][]`. */
  readonly field: string;
  /** Unchanged from the sender. */
  readonly filename: string;
  readonly contentType: string;
  /** Must be read before the next part; unread bytes are skipped. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** Consumes one file as it arrives; the next part is read when the promise resolves. @param before fields sent before it. */
export type TakeFile = (file: FormFile, before: FormFields) => Promise<void>;

/**
 * Reads a multipart form. Fields are collected; files are passed on as they arrive, so memory does not grow with them.
 * Browsers send a file part without name and content for an empty file input: it is skipped.
 * @param fieldBytesMax for all fields of the form together.
 * @throws AppError invalid_request, unsupported_media_type (the charset of a field, the transfer encoding of a part), too_large
 * (fields), unavailable; what `takeFile` throws.
 */
export async function receiveMultipart(
  contentType: string,
  chunks: AsyncIterator<Buffer>,
  taking: { readonly fieldBytesMax: number; readonly hold: BodyHold; readonly takeFile: TakeFile },
): Promise<FormFields> {
  const { fieldBytesMax, hold, takeFile } = taking;
  const boundary = multipartBoundary(contentType);
  if (boundary === undefined) throw new AppError("invalid_request", "The multipart form has no boundary.");
  const reader = new MultipartReader(chunks, boundary);
  const collector = new FormFieldCollector();
  let fieldBytes = 0;
  for (let part = await reader.nextPart(); part !== undefined; part = await reader.nextPart()) {
    const { name, filename, contentType: type } = part;
    if (filename === undefined) {
      const decode = textDecoder(part.charset);
      const content = part.decode(reader.content());
      const field = await readField(content, fieldBytesMax - fieldBytes, fieldBytesMax, hold);
      fieldBytes += field.length;
      collector.add(name, decode(field));
      continue;
    }
    const content = part.decode(reader.content());
    const first = await content.next();
    if (filename === "" && first.done === true) continue;
    const contentType = typeOfFile(filename, type);
    await takeFile({ field: name, filename, contentType, content: withFirst(first, content) }, collector.fields);
  }
  return collector.fields;
}

async function readField(
  content: AsyncIterable<Buffer>,
  bytesMax: number,
  fieldBytesMax: number,
  hold: BodyHold,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw textsTooLarge("The fields of a form", fieldBytesMax);
    hold.add(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Yields the first result, which was already consumed, and then the rest of the generator. */
async function* withFirst(
  first: IteratorResult<Buffer, unknown>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

const headerBytesMax = 16 * 1024;
const preambleBytesMax = 16 * 1024;

const carriageReturn = 0x0d;
const headersEnd = Buffer.from("\r\n\r\n");

/**
 * A multipart/form-data body (RFC 7578, 2046) as a stream of parts in constant memory: at most one chunk and one
 * delimiter are held. A body that ends before its closing delimiter is refused, so a truncated form is never accepted.
 */
export class MultipartReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #delimiter: Buffer;
  /** Starts with an added line end, so that the first delimiter matches like all others. */
  #held: Buffer = Buffer.from("\r\n");
  #parts = 0;
  #started = false;
  #inPart = false;

  /** @param boundary without the dashes, as the Content-Type has it. */
  constructor(chunks: AsyncIterator<Buffer>, boundary: string) {
    this.#chunks = chunks;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Skips the rest of the current part. @returns undefined after the last part. */
  async nextPart(): Promise<PartHeaders | undefined> {
    if (!this.#started) await this.#skipPreamble();
    else for await (const _ of this.content());
    await this.#hold(2);
    if (this.#held.subarray(0, 2).equals(Buffer.from("--"))) return undefined;
    this.#parts += 1;
    if (this.#parts > formPairsMax) throw malformed(`A form may have at most ${formPairsMax} parts.`);
    const headers = parsePartHeaders(await this.#takeHeaders());
    this.#inPart = true;
    return headers;
  }

  async *content(): AsyncGenerator<Buffer> {
    while (this.#inPart) {
      const end = this.#held.indexOf(this.#delimiter);
      if (end !== -1) {
        const rest = this.#held.subarray(0, end);
        this.#held = this.#held.subarray(end + this.#delimiter.length);
        this.#inPart = false;
        if (rest.length > 0) yield rest;
        return;
      }
      const safe = this.#safeBytes();
      if (safe > 0) {
        const part = this.#held.subarray(0, safe);
        this.#held = this.#held.subarray(safe);
        yield part;
      }
      await this.#more();
    }
  }

  /**
   * The number of held bytes before a possible start of a delimiter. Usually it is all of them, and the next chunk need not
   * be appended to a remainder. A delimiter has exactly one carriage return: its first byte.
   */
  #safeBytes(): number {
    const held = this.#held;
    const mayBegin = Math.max(0, held.length - this.#delimiter.length + 1);
    for (let at = held.indexOf(carriageReturn, mayBegin); at !== -1; at = held.indexOf(carriageReturn, at + 1)) {
      if (held.subarray(at).equals(this.#delimiter.subarray(0, held.length - at))) return at;
    }
    return held.length;
  }

  async #skipPreamble(): Promise<void> {
    this.#started = true;
    let skippedBytes = 0;
    this.#inPart = true;
    for await (const chunk of this.content()) {
      skippedBytes += chunk.length;
      if (skippedBytes > preambleBytesMax) throw malformed("It does not begin with its boundary.");
    }
  }

  /** The delimiter's line may end with spaces and tabs (RFC 2046); a part without headers begins with an empty line. */
  async #takeHeaders(): Promise<Buffer> {
    for (;;) {
      const lineEnd = this.#held.indexOf("\r\n");
      const end = lineEnd === -1 ? -1 : this.#held.indexOf(headersEnd, lineEnd);
      if (end !== -1) {
        if (this.#held.subarray(0, lineEnd).some((byte) => byte !== 0x20 && byte !== 0x09)) {
          throw malformed("A boundary is followed by other text.");
        }
        const block = this.#held.subarray(Math.min(lineEnd + 2, end), end);
        this.#held = this.#held.subarray(end + headersEnd.length);
        return block;
      }
      if (this.#held.length > headerBytesMax) throw malformed("A part's headers are too long.");
      await this.#more();
    }
  }

  async #hold(bytes: number): Promise<void> {
    while (this.#held.length < bytes) await this.#more();
  }

  async #more(): Promise<void> {
    const next = await this.#chunks.next();
    if (next.done === true) throw malformed("It ended before its last boundary.");
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
  }
}

/** @returns the boundary of a multipart/form-data type; undefined when it is missing or invalid (RFC 2046, 5.1.1). */
export function multipartBoundary(contentType: string): string | undefined {
  const match = /;\s*boundary\s*=\s*(?:"([^"\\\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

/** The headers of one part of a multipart form (RFC 7578). */
interface PartHeaders {
  readonly name: string;
  /** undefined: the part is a field, not a file. */
  readonly filename: string | undefined;
  readonly contentType: string;
  /** The charset of a field, in lower case; "": UTF-8. */
  readonly charset: string;
  /** Undoes the transfer encoding of the content. */
  readonly decode: ReturnType<typeof contentDecoder>;
}

/** @param block the part's header lines, without the empty line. @throws AppError invalid_request, unsupported_media_type. */
function parsePartHeaders(block: Buffer): PartHeaders {
  const headers = new Map<string, string>();
  for (const line of decodeText(block).split("\r\n")) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    if (colon === -1) throw malformed("A header line has no colon.");
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = parseParameters(headers.get("content-disposition") ?? "");
  const name = disposition.parameters.get("name");
  if (disposition.value !== "form-data" || name === undefined) throw malformed("A part has no name.");
  const type = parseParameters(headers.get("content-type") ?? "");
  const filename = extendedFilename(disposition.parameters.get("filename*")) ?? disposition.parameters.get("filename");
  const charset = charsetNamed(type.parameters.get("charset") ?? "");
  const decode = contentDecoder(headers.get("content-transfer-encoding") ?? "");
  return { name, filename, contentType: type.value, charset, decode };
}

interface Parameterized {
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** `value; a=b; c="d"`. */
function parseParameters(text: string): Parameterized {
  const semicolon = text.indexOf(";");
  const value = (semicolon === -1 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  const pattern = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gsy;
  pattern.lastIndex = semicolon === -1 ? text.length : semicolon;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [, name = "", quoted, plain = ""] = match;
    parameters.set(name.toLowerCase(), quoted === undefined ? plain.trim() : unquote(quoted));
  }
  return { value, parameters };
}

/**
 * Browsers write quotes and line ends as %22, %0D and %0A (HTML Standard, multipart/form-data); other clients escape with
 * a backslash. Old browsers send whole Windows paths, in which a backslash is not an escape.
 */
function unquote(text: string): string {
  return text
    .replace(/\\(["\\])/g, "$1")
    .replace(/%22/g, '"')
    .replace(/%0D/gi, "\r")
    .replace(/%0A/gi, "\n");
}

/** RFC 8187: `UTF-8''na%C3%AFve.txt`. */
function extendedFilename(text: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/is.exec(text ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const filename = percentDecoded(encoded);
  if (filename === undefined) throw malformed("A file name is not valid percent-encoded UTF-8.");
  return filename;
}

function malformed(sentence: string): AppError {
  return new AppError("invalid_request", `The multipart form is malformed. ${sentence}`);
}
