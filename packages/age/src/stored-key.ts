/** The letters of Bech32, in the order of their values. */
const letters = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
const prefix = "AGE-SECRET-KEY-1";
const bitsPerLetter = 5;
const keyBytes = 32;
/** The header of PKCS #8 for an X25519 key (RFC 8410). */
const pkcs8Header = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20];

/**
 * The key of an age identity as one that opens what is sealed for it, but that no script can read.
 * @param identity whose checksum was verified.
 * @throws DOMException NotSupportedError: the browser has no X25519.
 */
export async function importForUse(identity: string): Promise<CryptoKey> {
  const encoded = new Uint8Array([...pkcs8Header, ...keyOf(identity)]);
  return await crypto.subtle.importKey("pkcs8", encoded, { name: "X25519" }, false, ["deriveBits"]);
}

function keyOf(identity: string): Uint8Array {
  const key = new Uint8Array(keyBytes);
  let [bits, value] = [0, 0];
  let at = 0;
  for (const letter of identity.slice(prefix.length)) {
    value = ((value << bitsPerLetter) | letters.indexOf(letter)) & 0xfff;
    bits += bitsPerLetter;
    if (bits < 8) continue;
    bits -= 8;
    // What follows is the checksum.
    if (at < keyBytes) key[at] = (value >> bits) & 0xff;
    at += 1;
  }
  return key;
}
