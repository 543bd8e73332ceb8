import { isVisibleLine } from "../base/one-line.ts";

/**
 * Whether the text has `min` to `max` characters (code points) and is well-formed Unicode. A lone surrogate has no UTF-8
 * encoding, so two different texts that contain one would be stored as the same bytes.
 */
export function hasCharacters(text: string, min: number, max: number): boolean {
  const codeUnitsMax = 2 * max;
  if (text.length > codeUnitsMax || !text.isWellFormed()) return false;
  const count = [...text].length;
  return count >= min && count <= max;
}

/** Whether the text can name a token or passkey: 1 to `max` characters, none of them hidden. */
export function isName(text: string, max: number): boolean {
  return hasCharacters(text, 1, max) && isVisibleLine(text);
}

/** The zeros of the Arabic, Persian and full-width digits, which keyboards of our languages produce. */
const zeros = [0x0660, 0x06f0, 0xff10];

/** Replaces Arabic, Persian and full-width digits by 0 to 9. */
export function latinDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = zeros.findLast((first) => first <= code) ?? code;
    return String(code - zero);
  });
}
