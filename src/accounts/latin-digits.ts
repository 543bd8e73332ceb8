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
