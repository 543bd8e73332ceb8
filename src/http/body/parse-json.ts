import { AppError } from "../../base/errors.ts";
import { decodeText } from "./form-fields.ts";

/** More than any valid request has; each value takes some 60 bytes when parsed. */
const valuesMax = 10_000;
const depthMax = 32;
/** Even the worst body below this size parses into little memory. */
const unscannedBytesMax = 16 * 1024;

const quote = 0x22;
const backslash = 0x5c;

/** Some programs start every text with it, and a parser may ignore it there (RFC 8259, 8.1). */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * JSON.parse makes `__proto__` an ordinary own property; callers read named own properties only.
 * @throws AppError invalid_request: not UTF-8, not JSON, or built from too many or too deeply nested values.
 */
export function parseJson(body: Buffer): unknown {
  if (body.length > unscannedBytesMax) assertBounded(body);
  const isMarked = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  const text = decodeText(isMarked ? body.subarray(byteOrderMark.length) : body);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw new AppError("invalid_request", "The body is not valid JSON.");
  }
}

/** One pass over the bytes, before anything is allocated for them. */
function assertBounded(body: Buffer): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < body.length; at += 1) {
    switch (body[at]) {
      case quote:
        at = endOfString(body, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
        break;
    }
    if (depth > depthMax || values > valuesMax) {
      throw new AppError("invalid_request", "The JSON has too many or too deeply nested values.");
    }
  }
}

/** @returns the index of the closing quote, or of the body's end when there is none (JSON.parse then refuses it). */
function endOfString(body: Buffer, opening: number): number {
  let at = opening;
  for (;;) {
    at = body.indexOf(quote, at + 1);
    if (at === -1) return body.length;
    let slashes = 0;
    while (body[at - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}
