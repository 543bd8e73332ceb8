import { type FieldProblems, invalidFields } from "./errors.ts";

export type Problems = Record<string, string[]>;

export function addProblem(problems: Problems, field: string, message: string): void {
  const list = problems[field] ?? [];
  list.push(message);
  problems[field] = list;
}

/** @param value undefined: the field is absent. */
export function checkRange(
  problems: Problems,
  field: string,
  value: number | undefined,
  { min, max, unit = "" }: { readonly min: number; readonly max: number; readonly unit?: string },
): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return;
  addProblem(problems, field, `must be between ${min} and ${max}${unit}.`);
}

/** @throws AppError invalid_fields, unless there are none. */
export function assertNoProblems(...found: readonly FieldProblems[]): void {
  if (found.some((problems) => Object.keys(problems).length > 0)) throw invalidFields(Object.assign({}, ...found));
}
