import { nonceBytes, tagBytes } from "./aes-gcm.ts";

/**
 * The layout of a sealed stream: version 0x01 | nonce prefix 7, then segments of 65,536 plaintext bytes and a tag of
 * 16 each; only the last may be shorter, and an empty stream is one empty last segment.
 */
export const streamVersion = 1;
export const noncePrefixBytes = 7;
export const headerBytes = 1 + noncePrefixBytes;
export const segmentBytes = 65_536;
export const sealedSegmentBytes = segmentBytes + tagBytes;

/** The counter in the nonce has 32 bits; beyond that, nonces would repeat. */
const segmentsMax = 2 ** 32;

/** @throws RangeError when the count is not an integer from 0 to 2^48. */
export function segmentCount(plaintextBytes: number): number {
  if (!Number.isSafeInteger(plaintextBytes) || plaintextBytes < 0 || plaintextBytes > segmentsMax * segmentBytes) {
    throw new RangeError("A sealed stream holds 0 to 2^48 bytes.");
  }
  return Math.max(1, Math.ceil(plaintextBytes / segmentBytes));
}

/** Bytes of a sealed stream, from the bytes of its plaintext. @throws RangeError beyond 2^48. */
export function sealedLength(plaintextBytes: number): number {
  return headerBytes + plaintextBytes + segmentCount(plaintextBytes) * tagBytes;
}

/** Bytes of the header and the sealed segments before a position in the plaintext that is a multiple of `segmentBytes`. */
export function sealedLengthBefore(position: number): number {
  return position === 0 ? 0 : headerBytes + (position / segmentBytes) * sealedSegmentBytes;
}

/** The plaintext bytes of the first sealed bytes of a stream of `plaintextBytes`. The reverse of the two functions above. */
export function plaintextLength(sealedBytes: number, plaintextBytes: number): number {
  if (sealedBytes === sealedLength(plaintextBytes)) return plaintextBytes;
  return Math.floor(Math.max(0, sealedBytes - headerBytes) / sealedSegmentBytes) * segmentBytes;
}

/**
 * prefix 7 | counter u32 big-endian | 1 for the last segment, else 0: a segment opens only at its own position.
 * @throws RangeError when the counter is used up.
 */
export function segmentNonce(prefix: Uint8Array, index: number, last: boolean): Buffer {
  if (index >= segmentsMax) throw new RangeError("A sealed stream holds 2^32 segments at most.");
  const nonce = Buffer.allocUnsafe(nonceBytes);
  nonce.set(prefix, 0);
  nonce.writeUInt32BE(index, noncePrefixBytes);
  nonce[nonceBytes - 1] = last ? 1 : 0;
  return nonce;
}

export function makeHeader(noncePrefix: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(streamVersion), noncePrefix], headerBytes);
}

/** Associated data of every segment. The header has a fixed length, so header and context cannot be confused. */
export function associatedData(header: Uint8Array, context: string): Buffer {
  return Buffer.concat([header, Buffer.from(context, "utf8")]);
}
