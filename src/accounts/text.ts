/**
 * Whether the text has `min` to `max` characters (code points) and is well-formed Unicode: a lone surrogate has no
 * UTF-8, so two different texts with one would be stored as the same bytes.
 */
export function hasCharacters(text: string, min: number, max: number): boolean {
  const codeUnitsMax = 2 * max;
  if (text.length > codeUnitsMax || !text.isWellFormed()) return false;
  const count = [...text].length;
  return count >= min && count <= max;
}

/** First digits of the other scripts that keyboards of our languages write numbers in. */
const zeros = [0x0660, 0x06f0, 0xff10];

/** Arabic, Persian and full-width digits as 0 to 9; all else stays as it is. */
export function latinDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = zeros.findLast((first) => first <= code) ?? code;
    return String(code - zero);
  });
}
