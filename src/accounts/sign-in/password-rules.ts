import { hasCharacters } from "../text.ts";
import { commonPasswords, commonShortPasswords } from "./common-passwords.ts";

/** Code points. */
export const passwordCharactersMin = 12;
export const passwordCharactersMax = 1_024;

export const passwordLimits = { min: passwordCharactersMin, max: passwordCharactersMax } as const;

/** Why a password is refused. */
export type PasswordProblem =
  | "password_length"
  /** One of the most used passwords, or one of them with a few characters added. */
  | "password_common"
  /** Repeats a piece that would be too short by itself. */
  | "password_repeated"
  /** Consecutive characters of the alphabet or the keyboard. */
  | "password_sequence"
  /** The email address or its local part. */
  | "password_email";

/** For operators and logs; pages have translated texts. */
export const passwordSentences: Readonly<Record<PasswordProblem, string>> = {
  password_length: `A password has ${passwordCharactersMin} to ${passwordCharactersMax} characters.`,
  password_common: "This password is one of those that attackers try first.",
  password_repeated: "This password repeats a short sequence of characters.",
  password_sequence: "This password is a sequence of consecutive letters, digits or keys.",
  password_email: "This password is made from the email address.",
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
const lettersFor = new Map([
  ["@", "a"],
  ["0", "o"],
  ["1", "i"],
  ["3", "e"],
  ["4", "a"],
  ["5", "s"],
  ["7", "t"],
  ["$", "s"],
]);
/** Attackers try so few added characters: they are mostly a year and a punctuation mark. */
const addedCharactersMax = 6;
/** Each row twice, so that a sequence may continue at its beginning. */
const sequences = [...rows, ...joined].flatMap((row) => [row + row, [...(row + row)].reverse().join("")]);

/**
 * @param email normalised; attackers know it.
 * @returns undefined: the password is accepted.
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

/** Whether the password is one of the words, repeated or with digits and signs around it. */
function isOf(folded: string, words: readonly string[]): boolean {
  return words.some((word) => word !== "" && (folded.split(word).join("") === "" || coreOf(folded) === word));
}

/** The password without digits and signs at its ends. */
function coreOf(folded: string): string {
  return folded.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
}

/** A short common password with a few digits or signs: `Password2024!`, `p@ssw0rd1234`. */
function isLengthened(folded: string): boolean {
  const core = coreOf(folded);
  const added = [...folded].length - [...core].length;
  return added <= addedCharactersMax && (commonShortPasswords.has(core) || commonShortPasswords.has(plain(core)));
}

/** Replaces digits and signs that people write instead of letters. */
function plain(folded: string): string {
  return folded.replace(/[@013457$]/g, (sign) => lettersFor.get(sign) ?? sign);
}

/** Whether the password is a repetition of a short piece, whose last repetition may be incomplete. */
function repeatsShortPiece(folded: string): boolean {
  const characters = [...folded];
  for (let period = 1; period < passwordCharactersMin && 2 * period <= characters.length; period += 1) {
    if (characters.every((character, at) => at < period || character === characters[at - period])) return true;
  }
  return false;
}
