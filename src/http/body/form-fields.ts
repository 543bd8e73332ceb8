import { AppError } from "../../base/errors.ts";

/** A form's fields by name; `push[payload]` stands under `push`, as `payload` would in JSON. */
export type FormFields = { readonly [name: string]: FormValue };
export type FormValue = string | readonly string[] | { readonly [name: string]: string | readonly string[] };

export const formPairsMax = 256;

/** "" for a field that is missing or given several times. */
export function textOf(form: FormFields, name: string): string {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === "string" ? value : "";
}

type Level = Record<string, unknown>;

/** `name`, `name[]`, `name[key]`, `name[key][]` and, deeper, `name[key][0][more]`. */
const fieldName = /^([^[\]]{1,64})(?:\[([^[\]]{1,64})\])?((?:\[[^[\]]{0,64}\]){0,4})$/;

/**
 * Gathers pairs in the order they came: of two with one name the later counts (a checkbox after its hidden companion),
 * those with `[]` make a list. What is nested deeper than anything we take counts as an element of such a list, so that
 * it is refused where a field of ours is misspelled; names of another shape are ignored like any unknown key.
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

/** Without a prototype, so that no field's name means something to JavaScript. */
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
