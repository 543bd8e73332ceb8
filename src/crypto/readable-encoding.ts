/** 32 characters, five bits each. The letters i, l, o and u are left out as ambiguous. */
export const readableAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const bitsPerCharacter = 5;
const characterValues = new Map(Array.from(readableAlphabet, (character, value) => [character, value]));

/** @param bytes whose number of bits is a multiple of five. */
export function encodeReadable(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= bitsPerCharacter; ) {
      bits -= bitsPerCharacter;
      text += readableAlphabet.charAt((held >> bits) & 31);
    }
  }
  return text;
}

/** @returns undefined unless the text is the encoding of that many bytes. */
export function decodeReadable(text: string, byteCount: number): Buffer | undefined {
  if (text.length * bitsPerCharacter !== byteCount * 8) return undefined;
  const bytes = Buffer.alloc(byteCount);
  let at = 0;
  let bits = 0;
  let held = 0;
  for (const character of text) {
    const value = characterValues.get(character);
    if (value === undefined) return undefined;
    held = ((held << bitsPerCharacter) | value) & 0xfff;
    bits += bitsPerCharacter;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  return bytes;
}
