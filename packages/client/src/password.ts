import { ClientError } from "./errors.ts";

export interface PasswordOptions {
  /** Default: 20. */
  readonly length?: number;
  /** Whether it may have other characters than letters and digits. Default: true. */
  readonly symbols?: boolean;
}

export const passwordLengths = { min: 8, max: 1_024 } as const;

/** Without characters that look alike: 0 O o, 1 I l. */
const lettersAndDigits = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
/** Shells, URLs and spreadsheets take these as they are inside of a word. */
const symbolCharacters = "-_.+%@:,";

/** A random password from the system's generator. @throws ClientError invalid if the length is out of range. */
export function randomPassword({ length = 20, symbols = true }: PasswordOptions = {}): string {
  const { min, max } = passwordLengths;
  if (!Number.isInteger(length) || length < min || length > max) {
    throw new ClientError("invalid", `A password has ${min} to ${max} characters.`);
  }
  const characters = symbols ? lettersAndDigits + symbolCharacters : lettersAndDigits;
  // Bytes from here on would prefer the first characters.
  const fairBelow = 256 - (256 % characters.length);
  let password = "";
  while (password.length < length) {
    const fair = crypto.getRandomValues(new Uint8Array(length * 2)).filter((byte) => byte < fairBelow);
    for (const byte of fair.slice(0, length - password.length)) password += characters.charAt(byte % characters.length);
  }
  return password;
}
