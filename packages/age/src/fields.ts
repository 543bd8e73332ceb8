import { readOneTimeSeed } from "./one-time-seed.ts";

/** A structured secret: rows of label and value. The same rule holds in the browser, in clients and on the server. */

export const fieldTypes = ["text", "secret", "otp"] as const;
export type FieldType = (typeof fieldTypes)[number];

export interface PushField {
  readonly label: string;
  readonly value: string;
  /** `secret`: hidden until asked for. `otp`: `value` is an `otpauth://totp/` address. */
  readonly type: FieldType;
}

/** In Unicode code points. */
export const fieldLimits = { count: 30, label: 64, value: 65_536, text: 1_048_576 } as const;

export type FieldProblem =
  | { readonly problem: "count" | "text_long" }
  | {
      /** The position of the field, from 0. */
      readonly at: number;
      readonly problem:
        | "label_missing"
        | "label_long"
        | "label_characters"
        | "label_twice"
        | "value_missing"
        | "value_long"
        | "value_characters"
        | "otp";
    };

/** Control characters, ends of lines, and characters that change the direction of what follows them. */
const hiddenInLabel = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const loneSurrogate = /\p{Surrogate}/u;

/** @returns at most one problem of each label and each value; empty: the fields are valid. */
export function findFieldProblems(fields: readonly PushField[]): FieldProblem[] {
  if (fields.length === 0 || fields.length > fieldLimits.count) return [{ problem: "count" }];
  const labels = new Set<string>();
  const problems = fields.flatMap((field, at) => {
    const found = [labelProblem(field.label, labels), valueProblem(field)];
    labels.add(field.label.toLowerCase());
    return found.flatMap((problem) => (problem === undefined ? [] : [{ at, problem }]));
  });
  if (problems.length > 0) return problems;
  return isLonger(fieldsText(fields), fieldLimits.text) ? [{ problem: "text_long" }] : [];
}

function labelProblem(label: string, earlier: ReadonlySet<string>) {
  // A row needs a name that its reader sees.
  if (label.trim() === "") return "label_missing" as const;
  if (isLonger(label, fieldLimits.label)) return "label_long" as const;
  if (hiddenInLabel.test(label) || loneSurrogate.test(label)) return "label_characters" as const;
  return earlier.has(label.toLowerCase()) ? ("label_twice" as const) : undefined;
}

function valueProblem({ value, type }: PushField) {
  if (value === "") return "value_missing" as const;
  if (isLonger(value, fieldLimits.value)) return "value_long" as const;
  if (loneSurrogate.test(value)) return "value_characters" as const;
  return type === "otp" && readOneTimeSeed(value) === undefined ? ("otp" as const) : undefined;
}

function isLonger(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count > max;
}

/** For readers that know no fields: a line for each; a value of several lines follows the line of its label. */
export function fieldsText(fields: readonly Pick<PushField, "label" | "value">[]): string {
  return fields.map(({ label, value }) => `${label}:${/[\r\n]/.test(value) ? "\n" : " "}${value}`).join("\n");
}

/** Only these become links, whatever a value holds. */
export function becomesLink(value: string): boolean {
  return /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value);
}
