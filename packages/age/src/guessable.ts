import { commonPasswords, commonShortPasswords } from "./common-passwords.ts";

/** Code points of a password, or of a passphrase that somebody can try offline. */
export const secretCharactersMin = 12;

/** Why attackers find a text among the first that they try. */
export type GuessableReason =
  /** One of the most used passwords, or one of them with a few characters added. */
  | "common"
  /** Repeats a piece that would be too short by itself. */
  | "repeated"
  /** Consecutive characters of the alphabet or the keyboard. */
  | "sequence";

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

/** @returns undefined: for none of these reasons. */
export function guessableReason(text: string): GuessableReason | undefined {
  const folded = foldOf(text);
  if (commonPasswords.has(folded) || commonPasswords.has(coreOf(folded))) return "common";
  if (isLengthened(folded)) return "common";
  if (repeatsShortPiece(folded)) return "repeated";
  return sequences.some((row) => row.includes(folded)) ? "sequence" : undefined;
}

/**
 * Whether a passphrase must not seal a key that the server keeps: the operator can try passphrases on it, and so can somebody
 * with a token that reads, without the server noticing.
 */
export function isWeakPassphrase(passphrase: string): boolean {
  return [...passphrase].length < secretCharactersMin || guessableReason(passphrase) !== undefined;
}

/** Spellings that count as the same. */
export function foldOf(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** The text without digits and signs at its ends. */
export function coreOf(folded: string): string {
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

/** Whether the text is a repetition of a short piece, whose last repetition may be incomplete. */
function repeatsShortPiece(folded: string): boolean {
  const characters = [...folded];
  for (let period = 1; period < secretCharactersMin && 2 * period <= characters.length; period += 1) {
    if (characters.every((character, at) => at < period || character === characters[at - period])) return true;
  }
  return false;
}
