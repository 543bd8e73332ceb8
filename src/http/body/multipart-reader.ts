import { AppError } from "../../base/errors.ts";
import { type PartHeaders, parsePartHeaders } from "./part-headers.ts";

const headerBytesMax = 16 * 1024;
const partsMax = 512;
const preambleBytesMax = 16 * 1024;

const carriageReturn = 0x0d;
const headersEnd = Buffer.from("\r\n\r\n");

/**
 * A multipart/form-data body (RFC 7578, 2046) as a stream of parts in constant memory: at most one chunk and one
 * delimiter are held. A body that ends before its closing delimiter is refused, so nothing is cut silently.
 */
export class MultipartReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #delimiter: Buffer;
  /** Starts with a line end of our own making, so that the first delimiter looks like all others. */
  #held: Buffer = Buffer.from("\r\n");
  #parts = 0;
  #started = false;
  #inPart = false;

  /** @param boundary without the dashes, as the Content-Type has it. */
  constructor(chunks: AsyncIterator<Buffer>, boundary: string) {
    this.#chunks = chunks;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Skips what is left of the part before. @returns undefined after the last part. */
  async nextPart(): Promise<PartHeaders | undefined> {
    if (!this.#started) await this.#skipPreamble();
    else for await (const _ of this.content());
    await this.#hold(2);
    if (this.#held.subarray(0, 2).equals(Buffer.from("--"))) return undefined;
    this.#parts += 1;
    if (this.#parts > partsMax) throw malformed(`A form may have ${partsMax} parts.`);
    const headers = parsePartHeaders(await this.#takeHeaders());
    this.#inPart = true;
    return headers;
  }

  /** The bytes of the part whose headers came last. */
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
      const sure = this.#sureBytes();
      if (sure > 0) {
        const part = this.#held.subarray(0, sure);
        this.#held = this.#held.subarray(sure);
        yield part;
      }
      await this.#more();
    }
  }

  /**
   * Bytes that no delimiter begins in. Mostly all of them, and then the next chunk is not copied behind what is left. A
   * delimiter has one carriage return, its first byte.
   */
  #sureBytes(): number {
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

  /** The delimiter's line may end in blanks (RFC 2046); a part without headers begins with an empty line. */
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

/** @returns the boundary of a multipart/form-data type; undefined when there is none that can be (RFC 2046, 5.1.1). */
export function multipartBoundary(contentType: string): string | undefined {
  const match = /;\s*boundary\s*=\s*(?:"([^"\\\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

function malformed(sentence: string): AppError {
  return new AppError("invalid_request", `The multipart form is malformed. ${sentence}`);
}
