import { AppError } from "../../base/errors.ts";
import { decodeText } from "./decode-text.ts";

/** What a part of a multipart form says about itself (RFC 7578). */
export interface PartHeaders {
  readonly name: string;
  /** undefined: a field. */
  readonly filename: string | undefined;
  readonly contentType: string;
}

const charsets = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);
const plainEncodings = new Set(["", "7bit", "8bit", "binary"]);

/** @param block the part's header lines, without the empty line. @throws AppError invalid_request. */
export function parsePartHeaders(block: Buffer): PartHeaders {
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
  const type = parseParameters(headers.get("content-type") ?? "text/plain");
  if (!plainEncodings.has((headers.get("content-transfer-encoding") ?? "").toLowerCase())) {
    throw malformed("Parts must be sent as they are, without a transfer encoding.");
  }
  const filename = extendedFilename(disposition.parameters.get("filename*")) ?? disposition.parameters.get("filename");
  const charset = type.parameters.get("charset");
  if (filename === undefined && charset !== undefined && !charsets.has(charset.toLowerCase())) {
    throw malformed("Fields must be UTF-8.");
  }
  return { name, filename, contentType: type.value };
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
 * Browsers write quotes and line ends as %22, %0D, %0A (HTML Standard, multipart/form-data), other programs escape
 * with a backslash. Old browsers send whole Windows paths, whose backslashes escape nothing.
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
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw malformed("A file name is not valid percent-encoded UTF-8.");
  }
}

function malformed(sentence: string): AppError {
  return new AppError("invalid_request", `The multipart form is malformed. ${sentence}`);
}
