import { hmacSha256 } from "./hmac.ts";

const blockBytes = 32;
const lengthBytesMax = 255 * blockBytes;

/**
 * HKDF-SHA256 (RFC 5869), extract and expand.
 * @param info the purpose of the derived key; a string is encoded as UTF-8.
 * @throws RangeError when `lengthBytes` is not 1 to 8160.
 */
export function hkdf(ikm: Uint8Array, salt: Uint8Array, info: string | Uint8Array, lengthBytes: number): Buffer {
  if (!Number.isInteger(lengthBytes) || lengthBytes < 1 || lengthBytes > lengthBytesMax) {
    throw new RangeError(`HKDF-SHA256 gives 1 to ${lengthBytesMax} bytes.`);
  }
  const pseudoRandomKey = hmacSha256(salt, ikm);
  const purpose = typeof info === "string" ? Buffer.from(info, "utf8") : info;
  const first = hmacSha256(pseudoRandomKey, purpose, Uint8Array.of(1));
  if (lengthBytes <= blockBytes) return first.subarray(0, lengthBytes);

  const blocks = [first];
  let previous = first;
  for (let counter = 2; blocks.length * blockBytes < lengthBytes; counter += 1) {
    previous = hmacSha256(pseudoRandomKey, previous, purpose, Uint8Array.of(counter));
    blocks.push(previous);
  }
  return Buffer.concat(blocks, lengthBytes);
}
