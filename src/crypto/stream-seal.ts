import type { Random } from "../base/random.ts";
import { aesKey, encrypt } from "./aes-gcm.ts";
import {
  associatedData,
  makeHeader,
  noncePrefixBytes,
  sealedSegmentBytes,
  segmentBytes,
  segmentNonce,
} from "./stream-segments.ts";

export { type ByteRange, openStream, SealBrokenError } from "./stream-open.ts";
export { sealedLength, segmentBytes } from "./stream-segments.ts";

/**
 * Seals a stream of any length in constant memory: the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár:
 * Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, CRYPTO 2015) over AES-256-GCM.
 * @param key 32 bytes, one per stream: nonce prefixes of 56 bits are too short for many streams under one key.
 * @param context identifies the stream, e.g. "file:3".
 * @param content chunks of any size; each is consumed before the next is requested.
 * @returns `sealedLength` bytes. Each chunk is valid until the next is requested: all share one buffer, because new buffers
 *   would accumulate until the garbage collector runs.
 */
export async function* sealStream(
  key: Buffer,
  context: string,
  content: AsyncIterable<Uint8Array>,
  random: Random,
): AsyncGenerator<Buffer, void, undefined> {
  const secret = aesKey(key);
  const prefix = random.bytes(noncePrefixBytes);
  const header = makeHeader(prefix);
  const data = associatedData(header, context);
  const sealed = Buffer.allocUnsafe(sealedSegmentBytes);
  let index = 0;
  function sealSegment(plaintext: Uint8Array, last: boolean): Buffer {
    const { ciphertext, tag } = encrypt(secret, segmentNonce(prefix, index, last), data, plaintext);
    index += 1;
    sealed.set(ciphertext);
    sealed.set(tag, ciphertext.length);
    return sealed.subarray(0, ciphertext.length + tag.length);
  }

  yield header;
  const pending = Buffer.allocUnsafe(segmentBytes);
  let pendingBytes = 0;
  for await (const chunk of content) {
    let taken = 0;
    while (taken < chunk.length) {
      // A full segment is held back until another byte proves that it is not the last.
      if (pendingBytes === segmentBytes) {
        yield sealSegment(pending, false);
        pendingBytes = 0;
      }
      if (pendingBytes === 0 && chunk.length - taken > segmentBytes) {
        yield sealSegment(chunk.subarray(taken, taken + segmentBytes), false);
        taken += segmentBytes;
        continue;
      }
      const part = chunk.subarray(taken, taken + segmentBytes - pendingBytes);
      pending.set(part, pendingBytes);
      pendingBytes += part.length;
      taken += part.length;
    }
  }
  yield sealSegment(pending.subarray(0, pendingBytes), true);
}
