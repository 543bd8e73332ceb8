import { isUtf8 } from "node:buffer";
import { AppError } from "../../base/errors.ts";

/** A form's fields by name. `push[payload]` becomes the key `payload` of an object `push`, as in JSON. */
export type FormFields = { readonly [name: string]: FormValue };
export type FormValue = string | readonly string[] | { readonly [name: string]: string | readonly string[] };

export const formPairsMax = 256;

/** @returns "" for a field that is missing or given several times. */
export function textOf(form: FormFields, name: string): string {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === "string" ? value : "";
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
    if (this.#pairs > formPairsMax) throw new AppError("invalid_request", `A form may have ${formPairsMax} fields.`);
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
 * Parses application/x-www-form-urlencoded (URL Standard), but strictly: invalid percent-encoded UTF-8 is refused, not
 * repaired. @throws AppError invalid_request.
 */
export function parseUrlencoded(body: Buffer): FormFields {
  const text = decodeText(body);
  const collector = new FormFieldCollector();
  let start = 0;
  while (start < text.length) {
    const ampersand = text.indexOf("&", start);
    const end = ampersand === -1 ? text.length : ampersand;
    if (end > start) addPair(collector, text.slice(start, end));
    start = end + 1;
  }
  return collector.fields;
}

function addPair(collector: FormFieldCollector, pair: string): void {
  const equals = pair.indexOf("=");
  const name = equals === -1 ? pair : pair.slice(0, equals);
  const value = equals === -1 ? "" : pair.slice(equals + 1);
  collector.add(decode(name), decode(value));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new AppError(
      "invalid_request",
      "The form is not valid percent-encoded UTF-8: a percent sign of its own is written %25.",
    );
  }
}

/** Bytes that are not UTF-8 are refused, not repaired: a repaired secret is another secret. @throws AppError invalid_request. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError("invalid_request", "The body is not valid UTF-8.");
  return bytes.toString("utf8");
}
