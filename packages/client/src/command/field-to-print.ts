import type { PushField } from "@sealpush/age/fields";
import { oneTimeCode } from "@sealpush/age/one-time-code";
import { harmless } from "./text.ts";

export interface WantedField {
  /** undefined: the only one with a one-time code. */
  readonly label: string | undefined;
  /** The code instead of the seed. */
  readonly code: boolean;
}

export type Found = { readonly value: string } | { readonly problem: string };

/** What `--field` and `--otp` select from an opened push. */
export function selectField(fields: readonly PushField[], { label, code }: WantedField, now: number): Found {
  if (fields.length === 0) return { problem: "This push has no fields." };
  const matching = fields.filter((field) =>
    label === undefined ? field.type === "otp" : field.label.toLowerCase() === label.toLowerCase(),
  );
  const [field, ...others] = matching;
  if (field === undefined) return { problem: `There is no such field. ${labelsOf(fields)}` };
  if (others.length > 0) return { problem: `Name one with --field. ${labelsOf(matching)}` };
  if (!code) return { value: field.value };
  const made = field.type === "otp" ? oneTimeCode(field.value, now) : undefined;
  return made === undefined
    ? { problem: `That field has no one-time code. ${labelsOf(fields)}` }
    : { value: made.code };
}

function labelsOf(fields: readonly PushField[]): string {
  return `Its fields: ${fields.map((field) => `${harmless(field.label)} (${field.type})`).join(", ")}.`;
}
