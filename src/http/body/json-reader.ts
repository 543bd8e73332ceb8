import { AppError } from "../../base/errors.ts";
import { isFields } from "../../base/json.ts";
import { type BodyParser, CarriedBytes, decodeText, noBytes, textsTooLarge } from "./body-parser.ts";

/** More than any valid request has; each value takes some 60 bytes. */
const valuesMax = 10_000;
const depthMax = 32;
/** A longer number is in no field's range. */
const numberBytesMax = 1_024;

/** In characters of 16 bits: a payload, all files in base64, and room for the other fields. */
export const textCharactersMax = 16 * 1024 * 1024;

/** A number with the characters of the body: where a field is a text, `1.50` must not become `1.5`. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Whether a value of a body is an object with fields. */
export function isJsonObject(value: unknown): value is object {
  return isFields(value) && !(value instanceof JsonNumber);
}

type Level = { readonly list: unknown[] } | { readonly fields: Record<string, unknown>; key: string };

/** What may come next. `or_end`: an empty list or object may end here. */
type Expected = "value" | "value_or_end" | "key" | "key_or_end" | "colon" | "comma_or_end" | "nothing";

/**
 * Parses JSON (RFC 8259) in one pass over its bytes, as they arrive. Limits apply before anything is allocated, and only
 * decoded text is held. Objects have no prototype, so that a field named `__proto__` or `constructor` is an ordinary key.
 * Numbers are `JsonNumber`.
 * @throws AppError invalid_request: not UTF-8, not JSON, or too many or too deeply nested values; too_large: too long texts.
 */
export class JsonReader implements BodyParser<unknown> {
  readonly #carried = new CarriedBytes();
  readonly #levels: Level[] = [];
  #expected: Expected = "value";
  /** The decoded beginning of the string that is being read; undefined: none is. */
  #text: string | undefined;
  #result: unknown;
  #values = 0;
  #textCharacters = 0;
  #started = false;

  write(chunk: Buffer): void {
    this.#carried.write(chunk, (bytes) => this.#read(bytes, false));
  }

  end(): unknown {
    this.#carried.write(noBytes, (bytes) => this.#read(bytes, true));
    if (this.#carried.length > 0 || this.#expected !== "nothing") throw malformed();
    return this.#result;
  }

  /** @returns how many bytes were used: all, except a character, escape or number that continues beyond the end. */
  #read(bytes: Buffer, isLast: boolean): number {
    let at = 0;
    if (!this.#started) {
      if (bytes.length < byteOrderMark.length && !isLast) return 0;
      this.#started = true;
      if (bytes[0] === byteOrderMark[0] && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
        at = byteOrderMark.length;
      }
    }
    while (at < bytes.length) {
      if (this.#text !== undefined) {
        at = this.#readString(bytes, at, this.#text);
        if (this.#text !== undefined) return at;
        continue;
      }
      const byte = bytes[at];
      switch (byte) {
        case 0x20:
        case 0x0a:
        case 0x0d:
        case 0x09:
          break;
        case quote:
          if (this.#expected === "key" || this.#expected === "key_or_end") this.#expected = "key";
          else this.#beginValue();
          this.#text = "";
          break;
        case 0x7b: // {
          this.#open({ fields: Object.create(null), key: "" }, "key_or_end");
          break;
        case 0x5b: // [
          this.#open({ list: [] }, "value_or_end");
          break;
        case 0x7d: // }
        case 0x5d: // ]
          this.#close(byte === 0x5d);
          break;
        case 0x2c: // ,
          this.#separate();
          break;
        case 0x3a: // :
          this.#expect("colon", "value");
          break;
        default: {
          const end = endOfToken(bytes, at);
          if (end - at > numberBytesMax) throw malformed();
          if (end === bytes.length && !isLast) return at;
          this.#beginValue();
          this.#put(valueOfToken(bytes.toString("latin1", at, end)));
          at = end - 1;
        }
      }
      at += 1;
    }
    return at;
  }

  /** Reads a string from `from` to its closing quote, or as far as whole characters and escapes have arrived. */
  #readString(bytes: Buffer, from: number, before: string): number {
    let at = from;
    let hasEscapes = false;
    // All bytes so far, combined: below 0x80 they are ASCII.
    let bits = 0;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? quote;
      bits |= byte;
      if (byte === quote) {
        const isPlain = bits < 0x80 && !hasEscapes;
        const piece = isPlain ? bytes.toString("latin1", from, at) : decodePiece(bytes.subarray(from, at), hasEscapes);
        this.#endString(this.#joined(before, piece));
        return at + 1;
      }
      if (byte < 0x20) throw malformed();
      if (byte !== backslash) continue;
      const escapeBytes = bytes[at + 1] === 0x75 ? 6 : 2;
      if (at + escapeBytes > bytes.length) break;
      hasEscapes = true;
      at += escapeBytes - 1;
    }
    const end = at < bytes.length ? at : endOfWholeCharacters(bytes, from);
    this.#text = this.#joined(before, decodePiece(bytes.subarray(from, end), hasEscapes));
    return end;
  }

  #joined(before: string, piece: string): string {
    this.#textCharacters += piece.length;
    if (this.#textCharacters > textCharactersMax) throw textsTooLarge("The texts of a body", textCharactersMax);
    return before + piece;
  }

  #endString(text: string): void {
    this.#text = undefined;
    const level = this.#levels.at(-1);
    if (this.#expected === "key" && level !== undefined && "fields" in level) {
      level.key = text;
      this.#expected = "colon";
    } else {
      this.#put(text);
    }
  }

  #beginValue(): void {
    if (this.#expected !== "value" && this.#expected !== "value_or_end") throw malformed();
    this.#values += 1;
    if (this.#values > valuesMax) throw tooManyValues();
    this.#expected = "value";
  }

  #put(value: unknown): void {
    const level = this.#levels.at(-1);
    if (level === undefined) this.#result = value;
    else if ("list" in level) level.list.push(value);
    else level.fields[level.key] = value;
    this.#expected = level === undefined ? "nothing" : "comma_or_end";
  }

  #open(level: Level, expected: Expected): void {
    this.#beginValue();
    if (this.#levels.length >= depthMax) throw tooManyValues();
    this.#levels.push(level);
    this.#expected = expected;
  }

  #close(isList: boolean): void {
    const level = this.#levels.pop();
    if (level === undefined || "list" in level !== isList) throw malformed();
    if (this.#expected !== "comma_or_end" && this.#expected !== (isList ? "value_or_end" : "key_or_end")) {
      throw malformed();
    }
    this.#put("list" in level ? level.list : level.fields);
  }

  #separate(): void {
    const level = this.#levels.at(-1);
    if (level === undefined) throw malformed();
    this.#expect("comma_or_end", "list" in level ? "value" : "key");
  }

  #expect(expected: Expected, next: Expected): void {
    if (this.#expected !== expected) throw malformed();
    this.#expected = next;
  }
}

const quote = 0x22;
const backslash = 0x5c;
/** The byte order mark: some programs start every text with it, and a parser may ignore it there (RFC 8259, 8.1). */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Removes an incomplete UTF-8 character from the end. */
function endOfWholeCharacters(bytes: Buffer, from: number): number {
  for (let at = bytes.length - 1; at >= Math.max(from, bytes.length - 3); at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const characterBytes = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return at + characterBytes > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

function decodePiece(bytes: Buffer, hasEscapes: boolean): string {
  const text = decodeText(bytes);
  return hasEscapes ? withoutEscapes(text) : text;
}

/** Only called with pieces of at most one chunk. */
function withoutEscapes(text: string): string {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    // The parser's own message quotes the body.
    throw malformed();
  }
}

/** Letters, digits, sign and point: a number, true, false or null. */
function endOfToken(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const isPart = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x45;
    if (!isPart && byte !== 0x2b && byte !== 0x2d && byte !== 0x2e) break;
  }
  return at;
}

const literals: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function valueOfToken(token: string): unknown {
  if (literals.has(token)) return literals.get(token);
  if (!number.test(token)) throw malformed();
  return new JsonNumber(token);
}

function malformed(): AppError {
  return new AppError("invalid_request", "The body is not valid JSON.");
}

function tooManyValues(): AppError {
  return new AppError("invalid_request", "The JSON has too many or too deeply nested values.");
}
