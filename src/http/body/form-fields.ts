import { AppError } from "../../base/errors.ts";
import { type BodyParser, CarriedBytes, textsTooLarge } from "./body-parser.ts";
import type { DecodeText } from "./decoded-body.ts";

/** A form's fields by name. `push[payload]` becomes the key `payload` of an object `push`, as in JSON. */
export type FormFields = { readonly [name: string]: FormValue };
export type FormValue = string | readonly string[] | { readonly [name: string]: string | readonly string[] };

/** More than the most files of a push, each of which may be a field, and its other fields. */
export const formPairsMax = 640;

/** @returns "" for a field that is missing or given several times. */
export function textOf(form: FormFields, name: string): string {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === "string" ? value : "";
}

/** An id or a revision that the page has put into the form. @returns -1, which nothing stored has, if it is not a whole number. */
export function wholeNumberOf(form: FormFields, name: string): number {
  const number = Number(textOf(form, name));
  return Number.isSafeInteger(number) ? number : -1;
}

type Level = Record<string, unknown>;

/** `name`, `name[]`, `name[key]`, `name[key][]` and, deeper, `name[key][0][more]`. */
const fieldName = /^([^[\]]{1,64})(?:\[([^[\]]{1,64})\])?((?:\[[^[\]]{0,64}\]){0,4})$/;

/**
 * Collects pairs in the order they were sent. The last of several pairs with the same name wins (a checkbox after its
 * hidden companion); names with `[]` make a list. A name that is nested deeper than any known field adds an element to such
 * a list, so that a misspelled field is refused. Names of any other shape are ignored, like unknown keys.
 */
export class FormFieldCollector {
  readonly #fields: Level = emptyLevel();
  #pairs = 0;

  add(name: string, value: string): void {
    this.#pairs += 1;
    if (this.#pairs > formPairsMax)
      throw new AppError("invalid_request", `A form may have at most ${formPairsMax} fields.`);
    const parts = fieldName.exec(name);
    const first = parts?.[1];
    if (first === undefined) return;
    const second = parts?.[2];
    const isList = parts?.[3] !== "";
    if (second === undefined) put(this.#fields, first, value, isList);
    else put(levelIn(this.#fields, first), second, value, isList);
  }

  get fields(): FormFields {
    return this.#fields as FormFields;
  }
}

/** Without a prototype, so a field named `__proto__` or `constructor` is an ordinary key. */
function emptyLevel(): Level {
  return Object.create(null) as Level;
}

function levelIn(fields: Level, name: string): Level {
  const known = fields[name];
  if (known !== null && typeof known === "object" && !Array.isArray(known)) return known as Level;
  const level = emptyLevel();
  fields[name] = level;
  return level;
}

function put(level: Level, name: string, value: string, isList: boolean): void {
  if (!isList) {
    level[name] = value;
    return;
  }
  const list = level[name];
  if (Array.isArray(list)) list.push(value);
  else level[name] = [value];
}

/**
 * Parses application/x-www-form-urlencoded (URL Standard) in one pass over its bytes, as they arrive, but strictly: what is
 * not valid percent-encoding, or not in the form's charset, is refused, not repaired.
 * @throws AppError invalid_request; too_large: all names and values together, decoded, exceed `textBytesMax`.
 */
export class UrlencodedReader implements BodyParser<FormFields> {
  readonly #textBytesMax: number;
  readonly #decode: DecodeText;
  readonly #collector = new FormFieldCollector();
  readonly #carried = new CarriedBytes();
  /** The decoded pieces of the name or value that is being read. */
  #pieces: Buffer[] = [];
  #textBytes = 0;
  #name: string | undefined;
  #isEmpty = true;

  /** @param decode for the bytes of a name or a value. */
  constructor(textBytesMax: number, decode: DecodeText) {
    this.#textBytesMax = textBytesMax;
    this.#decode = decode;
  }

  write(chunk: Buffer): void {
    this.#carried.write(chunk, (bytes) => this.#read(bytes));
  }

  end(): FormFields {
    if (this.#carried.length > 0) throw badEncoding();
    this.#endPair();
    return this.#collector.fields;
  }

  /** @returns how many bytes were used: all, except an escape that continues beyond the end. */
  #read(bytes: Buffer): number {
    const decoded = Buffer.allocUnsafe(bytes.length);
    let from = 0;
    let length = 0;
    const addPiece = (): void => {
      this.#addPiece(decoded.subarray(from, length));
      from = length;
    };
    let at = 0;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === 0x26) {
        addPiece();
        this.#endPair();
        continue;
      }
      this.#isEmpty = false;
      if (byte === 0x3d && this.#name === undefined) {
        addPiece();
        this.#name = this.#takeText();
      } else if (byte === 0x25) {
        if (at + 2 >= bytes.length) break;
        decoded[length] = byteOf(bytes[at + 1], bytes[at + 2]);
        length += 1;
        at += 2;
      } else {
        decoded[length] = byte === 0x2b ? 0x20 : byte;
        length += 1;
      }
    }
    addPiece();
    return at;
  }

  #addPiece(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#textBytes += bytes.length;
    if (this.#textBytes > this.#textBytesMax) throw textsTooLarge("The fields of a form", this.#textBytesMax);
    this.#pieces.push(bytes);
  }

  #endPair(): void {
    if (!this.#isEmpty) {
      const text = this.#takeText();
      if (this.#name === undefined) this.#collector.add(text, "");
      else this.#collector.add(this.#name, text);
    }
    this.#name = undefined;
    this.#isEmpty = true;
  }

  #takeText(): string {
    const [first, ...others] = this.#pieces;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    return this.#decode(bytes);
  }
}

/** @throws AppError invalid_request: not two hexadecimal digits. */
function byteOf(high: number | undefined, low: number | undefined): number {
  const byte = (hexValues[high ?? 0] ?? notHex) * 16 + (hexValues[low ?? 0] ?? notHex);
  if (byte > 0xff) throw badEncoding();
  return byte;
}

const notHex = 0x1000;
/** The value of each ASCII character as a hexadecimal digit. */
const hexValues = Uint16Array.from({ length: 256 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? notHex : digit;
});

function badEncoding(): AppError {
  return new AppError(
    "invalid_request",
    "The form is not valid percent-encoding: a percent sign of its own is written %25.",
  );
}
