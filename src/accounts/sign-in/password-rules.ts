import { hasCharacters } from "../text.ts";
import { commonPasswords, commonShortPasswords } from "./common-passwords.ts";

/** Code points. */
export const passwordCharactersMin = 12;
export const passwordCharactersMax = 1_024;

export const passwordLimits = { min: passwordCharactersMin, max: passwordCharactersMax } as const;

/** Why a password is not taken. */
export type PasswordProblem =
  | "password_length"
  /** Among those that people use most, or one of them with a little more. */
  | "password_common"
  /** A piece again and again that would by itself be too short. */
  | "password_repeated"
  /** Neighbours of the alphabet or the keyboard. */
  | "password_sequence"
  /** The e-mail or its first part. */
  | "password_email";

/** In the messages of operators and logs; pages have their own. */
export const passwordSentences: Readonly<Record<PasswordProblem, string>> = {
  password_length: `A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters.`,
  password_common: "This password is among the ones that are guessed first.",
  password_repeated: "This password repeats a short piece.",
  password_sequence: "This password is a sequence of neighbours.",
  password_email: "This password is made of the e-mail address.",
};

const rows = [
  "abcdefghijklmnopqrstuvwxyz",
  "1234567890",
  "qwertyuiop",
  "asdfghjkl",
  "zxcvbnm",
  "qwertzuiop",
  "yxcvbnm",
];
const joined = ["1234567890qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn"];
const emailsFor: Readonly<Record<string, string>> = {
  ...{ "@": "a", "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", $: "s" },
};
/** So few cost a guesser next to nothing: they are mostly a year and a sign. */
const addedCharactersMax = 6;
/** Twice each, so that a stretch may run over the end to the beginning. */
const sequences = [...rows, ...joined].flatMap((row) => [row + row, [...(row + row)].reverse().join("")]);

/**
 * @param email normalised; what it is made of is known to everybody who guesses.
 * @returns undefined: it is taken.
 */
export function passwordProblem(password: string, email: string): PasswordProblem | undefined {
  if (!hasCharacters(password, passwordCharactersMin, passwordCharactersMax)) return "password_length";
  const folded = password.normalize("NFC").toLowerCase();
  if (isOf(folded, [email, email.slice(0, email.lastIndexOf("@"))])) return "password_email";
  if (commonPasswords.has(folded) || commonPasswords.has(coreOf(folded))) return "password_common";
  if (isLengthened(folded)) return "password_common";
  if (repeatsShortPiece(folded)) return "password_repeated";
  return sequences.some((row) => row.includes(folded)) ? "password_sequence" : undefined;
}

/** The messages themselves, again and again, or with digits and signs around them. */
function isOf(folded: string, messages: readonly string[]): boolean {
  return messages.some((word) => word !== "" && (folded.split(word).join("") === "" || coreOf(folded) === word));
}

/** Without the digits and signs at its ends. */
function coreOf(folded: string): string {
  return folded.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
}

/** A short common password with a few digits or signs: `Password2024!`, `p@ssw0rd1234`. */
function isLengthened(folded: string): boolean {
  const core = coreOf(folded);
  const added = [...folded].length - [...core].length;
  return added <= addedCharactersMax && (commonShortPasswords.has(core) || commonShortPasswords.has(plain(core)));
}

/** Without the digits and signs that people write for emails. */
function plain(folded: string): string {
  return folded.replace(/[@013457$]/g, (sign) => emailsFor[sign] ?? sign);
}

/** The shortest piece that makes the whole when it is set again and again, its last time perhaps cut off. */
function repeatsShortPiece(folded: string): boolean {
  const characters = [...folded];
  for (let period = 1; period < passwordCharactersMin && 2 * period <= characters.length; period += 1) {
    if (characters.every((character, at) => at < period || character === characters[at - period])) return true;
  }
  return false;
}
