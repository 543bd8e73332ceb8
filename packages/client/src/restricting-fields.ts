import type { CreatedPush, CreatePushRequest } from "./api-types.ts";

type Sent = Pick<CreatePushRequest["push"], "expires_at">;
type Answered = Partial<Pick<CreatedPush, "expires_at">>;

/**
 * Servers ignore fields that they do not know. These restrict a push, so without them it must not stay.
 * @returns the name of a field that the server ignored; undefined: none.
 */
export function ignoredField(sent: Sent, answered: Answered): string | undefined {
  const { expires_at: expiresAt = "" } = sent;
  if (expiresAt !== "" && Date.parse(answered.expires_at ?? "") !== Date.parse(expiresAt)) return "expires_at";
  return undefined;
}
