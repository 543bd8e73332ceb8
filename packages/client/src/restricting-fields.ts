import type { CreatedPush, CreatePushRequest } from "./api-types.ts";

type Sent = Pick<CreatePushRequest["push"], "expires_at" | "fields">;
type Answered = Partial<Pick<CreatedPush, "expires_at" | "fields">>;

/**
 * Servers ignore what they do not know. Without these a push is not what was wanted, so it must not stay.
 * @returns the name of a field that the server ignored; undefined: none.
 */
export function ignoredField(sent: Sent, answered: Answered): string | undefined {
  const { expires_at: expiresAt = "", fields } = sent;
  if (expiresAt !== "" && Date.parse(answered.expires_at ?? "") !== Date.parse(expiresAt)) return "expires_at";
  if (fields !== undefined && fields.length !== answered.fields?.length) return "fields";
  return undefined;
}
