/** What makes one-time codes (TOTP, RFC 6238). */
export interface OneTimeSeed {
  readonly secret: Uint8Array;
  readonly algorithm: "SHA1" | "SHA256" | "SHA512";
  readonly digits: 6 | 8;
  /** Seconds. */
  readonly period: number;
}

/** Far more than any app writes: a longer text is not parsed. */
const charactersMax = 2_048;

/** @returns undefined: it is no `otpauth://totp/` address with a base32 secret and values that apps know. */
export function readOneTimeSeed(address: string): OneTimeSeed | undefined {
  if (address.length > charactersMax) return undefined;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "otpauth:" || url.host.toLowerCase() !== "totp") return undefined;
  const [text, ...others] = url.searchParams.getAll("secret");
  const secret = text === undefined || others.length > 0 ? undefined : readBase32(text);
  const algorithm = (url.searchParams.get("algorithm") ?? "SHA1").toUpperCase();
  const digits = wholeNumber(url.searchParams.get("digits") ?? "6");
  const period = wholeNumber(url.searchParams.get("period") ?? "30");
  if (secret === undefined || (digits !== 6 && digits !== 8) || !(period >= 15 && period <= 120)) return undefined;
  if (algorithm !== "SHA1" && algorithm !== "SHA256" && algorithm !== "SHA512") return undefined;
  return { secret, algorithm, digits, period };
}

function wholeNumber(text: string): number {
  return /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** @returns undefined: it is empty, or no base32. Padding may be left out. */
function readBase32(text: string): Uint8Array | undefined {
  let end = text.length;
  while (end > 0 && text[end - 1] === "=") end -= 1;
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const character of text.slice(0, end).toUpperCase()) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) return undefined;
    value = (value << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(value >>> bits);
    value &= (1 << bits) - 1;
  }
  // A last group of one, three or six characters has a digit too many.
  return bytes.length > 0 && bits < 5 ? Uint8Array.from(bytes) : undefined;
}
