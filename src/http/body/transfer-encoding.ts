import { AppError } from "../../base/errors.ts";

/** Decodes the content of a part while it arrives. No chunk that it yields is empty. @throws AppError invalid_request. */
type DecodeContent = (content: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;

const asItIs: DecodeContent = async function* (content) {
  for await (const chunk of content) if (chunk.length > 0) yield chunk;
};

const decoders: Readonly<Record<string, DecodeContent>> = {
  "": asItIs,
  "7bit": asItIs,
  "8bit": asItIs,
  binary: asItIs,
  base64: (content) => decoded(content, new Base64Reader()),
  "quoted-printable": (content) => decoded(content, new QuotedPrintableReader()),
};

/**
 * The decoder for a Content-Transfer-Encoding (RFC 2045). RFC 7578 deprecates them; Ansible sends files as base64.
 * @throws AppError unsupported_media_type.
 */
export function contentDecoder(encoding: string): DecodeContent {
  const name = encoding.toLowerCase();
  const decoder = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (decoder !== undefined) return decoder;
  throw new AppError("unsupported_media_type", "Send parts as they are, in base64 or in quoted-printable.");
}

interface ContentReader {
  /** @returns the bytes that are complete; the rest waits for the next call. @throws AppError invalid_request. */
  read(chunk: Buffer): Buffer;
  /** @returns what is left. @throws AppError invalid_request: the content is not complete. */
  end(): Buffer;
}

/** What may be sent beyond the longest encoding of the decoded bytes: a part of line ends alone would have no limit. */
const emptyBytesMax = 64 * 1024;

async function* decoded(content: AsyncIterable<Buffer>, reader: ContentReader): AsyncGenerator<Buffer> {
  let sentBytes = 0;
  let decodedBytes = 0;
  for await (const chunk of content) {
    sentBytes += chunk.length;
    const bytes = reader.read(chunk);
    decodedBytes += bytes.length;
    if (sentBytes > 4 * decodedBytes + emptyBytesMax) throw malformed("encodes too little");
    if (bytes.length > 0) yield bytes;
  }
  const rest = reader.end();
  if (rest.length > 0) yield rest;
}

class Base64Reader implements ContentReader {
  /** Fewer than four characters. */
  #rest = "";
  #hasEnded = false;

  read(chunk: Buffer): Buffer {
    const text = this.#rest + chunk.toString("latin1").replace(/[\r\n\t ]+/g, "");
    const whole = text.slice(0, text.length - (text.length % 4));
    this.#rest = text.slice(whole.length);
    if (whole === "") return Buffer.alloc(0);
    if (this.#hasEnded || !/^[A-Za-z0-9+/]*={0,2}$/.test(whole)) throw malformed("is not base64");
    this.#hasEnded = whole.endsWith("=");
    return Buffer.from(whole, "base64");
  }

  end(): Buffer {
    if (this.#rest !== "") throw malformed("is not complete base64");
    return Buffer.alloc(0);
  }
}

const equalsSign = 0x3d;
/** An encoder breaks lines after 76 characters. */
const lineBytesMax = 64 * 1024;

class QuotedPrintableReader implements ContentReader {
  #line = "";

  read(chunk: Buffer): Buffer {
    const text = this.#line + chunk.toString("latin1");
    const wholeEnd = text.lastIndexOf("\n") + 1;
    this.#line = text.slice(wholeEnd);
    if (this.#line.length > lineBytesMax) throw malformed("has a line that is too long");
    return linesIn(text.slice(0, wholeEnd));
  }

  end(): Buffer {
    return linesIn(this.#line);
  }
}

/** Blanks before a line end are not part of the content. The run is found from its beginning, so that a long one is read once. */
const blanksAtLineEnd = /(?<![\t ])[\t ]+(?=\r?\n|$)/g;

/** @param text whole lines, one character per byte. */
function linesIn(text: string): Buffer {
  const joined = text.replace(blanksAtLineEnd, "").replace(/=\r?\n/g, "");
  if (/=(?![0-9A-Fa-f]{2})/.test(joined)) throw malformed("is not quoted-printable");
  const bytes = Buffer.from(joined, "latin1");
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const isEncoded = bytes[at] === equalsSign;
    bytes[length] = isEncoded ? Number.parseInt(joined.slice(at + 1, at + 3), 16) : (bytes[at] ?? 0);
    length += 1;
    if (isEncoded) at += 2;
  }
  return bytes.subarray(0, length);
}

function malformed(what: string): AppError {
  return new AppError("invalid_request", `The multipart form is malformed. A part ${what}.`);
}
