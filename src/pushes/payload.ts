import { type FieldProblem, fieldLimits, type PushField } from "@sealpush/age/fields";
import type { CreatePush } from "./push.ts";
import type { PayloadFormat } from "./stored-values.ts";

export interface StoredPayload {
  readonly payload: string;
  readonly payloadFormat: PayloadFormat;
}

export function storedPayload({ payload = "", fields }: Pick<CreatePush, "payload" | "fields">): StoredPayload {
  if (fields === undefined) return { payload, payloadFormat: "text" };
  // The order of the keys is always the same, because repeated requests are compared.
  const rows = fields.map(({ label, value, type }) => ({ label, value, type }));
  return { payload: JSON.stringify(rows), payloadFormat: "fields" };
}

/** @returns the fields of an opened payload; null: it is a text. */
export function readStoredFields({ payload, payloadFormat }: StoredPayload): readonly PushField[] | null {
  switch (payloadFormat) {
    case "text":
      return null;
    case "fields":
      // It was written by `storedPayload` and is authenticated together with its format.
      return JSON.parse(payload);
  }
}

const sentences: Readonly<Record<FieldProblem["problem"], string>> = {
  count: `must be 1 to ${fieldLimits.count} fields.`,
  text_long: `together may have at most ${fieldLimits.text} characters.`,
  label_missing: "the label is empty.",
  label_long: `the label may have at most ${fieldLimits.label} characters.`,
  label_characters: "the label has a character that is not shown.",
  label_twice: "the label is used twice.",
  value_missing: "the value is empty.",
  value_long: `the value may have at most ${fieldLimits.value} characters.`,
  value_characters: "the value contains a lone surrogate, which is not a character.",
  otp:
    "the value must be otpauth://totp/ with a base32 secret, SHA1, SHA256 or SHA512, 6 or 8 digits, and a period of 15 to " +
    "120 seconds.",
};

export function fieldSentence(found: FieldProblem): string {
  const sentence = sentences[found.problem];
  return "at" in found ? `${found.at + 1}: ${sentence}` : sentence;
}
