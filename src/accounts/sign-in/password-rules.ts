import { coreOf, foldOf, type GuessableReason, guessableReason, secretCharactersMin } from "@sealpush/age/guessable";
import { hasCharacters } from "../text.ts";

/** Code points. */
export const passwordCharactersMax = 1_024;

export const passwordLimits = { min: secretCharactersMin, max: passwordCharactersMax } as const;

/** Why a password is refused. */
export type PasswordProblem =
  | "password_length"
  | `password_${GuessableReason}`
  /** The email address or its local part. */
  | "password_email";

/** For operators and logs; pages have translated texts. */
export const passwordSentences: Readonly<Record<PasswordProblem, string>> = {
  password_length: `A password has ${secretCharactersMin} to ${passwordCharactersMax} characters.`,
  password_common: "This password is one of those that attackers try first.",
  password_repeated: "This password repeats a short sequence of characters.",
  password_sequence: "This password is a sequence of consecutive letters, digits or keys.",
  password_email: "This password is made from the email address.",
};

/**
 * @param email normalised; attackers know it.
 * @returns undefined: the password is accepted.
 */
export function passwordProblem(password: string, email: string): PasswordProblem | undefined {
  if (!hasCharacters(password, secretCharactersMin, passwordCharactersMax)) return "password_length";
  const folded = foldOf(password);
  if (isOf(folded, [email, email.slice(0, email.lastIndexOf("@"))])) return "password_email";
  const reason = guessableReason(password);
  return reason && `password_${reason}`;
}

/** Whether the password is one of the words, repeated or with digits and signs around it. */
function isOf(folded: string, words: readonly string[]): boolean {
  return words.some((word) => word !== "" && (folded.split(word).join("") === "" || coreOf(folded) === word));
}
