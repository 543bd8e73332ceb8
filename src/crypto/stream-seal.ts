import { countShortLivedBuffers } from "../base/garbage.ts";
import type { Random } from "../base/random.ts";
import { aesKey, encrypt } from "./aes-gcm.ts";
import { deriveKey } from "./sodium.ts";
import {
  associatedData,
  makeHeader,
  noncePrefixBytes,
  sealedSegmentBytes,
  segmentBytes,
  segmentCount,
  segmentNonce,
} from "./stream-segments.ts";

export { type ByteRange, openStream, SealBrokenError } from "./stream-open.ts";
export { plaintextLength, sealedLength, sealedLengthBefore, segmentBytes } from "./stream-segments.ts";

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
  const header = makeHeader(random.bytes(noncePrefixBytes));
  const sealSegment = segmentSealer(key, context, header);
  const segments = new SegmentCutter();
  let index = 0;
  yield header;
  for await (const chunk of content) {
    // A full segment is held back until another byte proves that it is not the last.
    for (const segment of segments.cut(chunk)) {
      yield sealSegment(segment, index, false);
      index += 1;
    }
  }
  yield sealSegment(segments.rest(), index, true);
}

/** A stream that is sealed in several parts. */
export interface PartedStream {
  /** 32 bytes, for this stream alone. The nonce prefix is derived from it. */
  readonly key: Buffer;
  readonly context: string;
  /** The bytes of the whole stream. */
  readonly plaintextBytes: number;
}

/**
 * Seals the next part of a stream. A segment must never be sealed again under the same key with other bytes (threat: two
 * sealed segments with one nonce reveal the difference of their contents), so a caller that does not know what was written
 * of an earlier part needs a stream of another key.
 * @param start bytes of the stream in earlier parts: whole segments.
 * @param content from there on; it must not go beyond the end of the stream.
 * @returns the header before the first segment of the stream, then whole segments; see `sealStream`. Bytes after the last
 *   whole segment are dropped, except at the end of the stream.
 */
export async function* sealPart(
  { key, context, plaintextBytes }: PartedStream,
  start: number,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  const header = makeHeader(deriveKey(key, "nonce prefix").subarray(0, noncePrefixBytes));
  const sealSegment = segmentSealer(key, context, header);
  const segments = new SegmentCutter();
  const lastIndex = segmentCount(plaintextBytes) - 1;
  let index = start / segmentBytes;
  if (!Number.isInteger(index)) throw new RangeError("A part begins with a whole segment.");
  function* sealed(segment: Uint8Array): Generator<Buffer, void, undefined> {
    if (index > lastIndex) throw new RangeError("The part is longer than its stream.");
    if (index === 0) yield header;
    yield sealSegment(segment, index, index === lastIndex);
    index += 1;
  }

  for await (const chunk of content) {
    for (const segment of segments.cut(chunk)) yield* sealed(segment);
  }
  const rest = segments.rest();
  const isWhole =
    index === lastIndex ? index * segmentBytes + rest.length === plaintextBytes : rest.length === segmentBytes;
  if (isWhole) yield* sealed(rest);
}

/** @returns a function that seals one segment into a buffer that all segments share. */
function segmentSealer(key: Buffer, context: string, header: Buffer) {
  const secret = aesKey(key);
  const prefix = header.subarray(1);
  const data = associatedData(header, context);
  const sealed = Buffer.allocUnsafe(sealedSegmentBytes);
  return (plaintext: Uint8Array, index: number, last: boolean): Buffer => {
    const { ciphertext, tag } = encrypt(secret, segmentNonce(prefix, index, last), data, plaintext);
    sealed.set(ciphertext);
    sealed.set(tag, ciphertext.length);
    // The chunks of the plaintext and the ciphertext.
    countShortLivedBuffers(plaintext.length + ciphertext.length);
    return sealed.subarray(0, ciphertext.length + tag.length);
  };
}

/** Cuts chunks of any size into segments. */
class SegmentCutter {
  readonly #pending = Buffer.allocUnsafe(segmentBytes);
  #pendingBytes = 0;

  /** @returns the full segments after which more bytes follow. Each is valid until the next is requested. */
  *cut(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
    let taken = 0;
    while (taken < chunk.length) {
      if (this.#pendingBytes === segmentBytes) {
        yield this.#pending;
        this.#pendingBytes = 0;
      }
      if (this.#pendingBytes === 0 && chunk.length - taken > segmentBytes) {
        yield chunk.subarray(taken, taken + segmentBytes);
        taken += segmentBytes;
        continue;
      }
      const part = chunk.subarray(taken, taken + segmentBytes - this.#pendingBytes);
      this.#pending.set(part, this.#pendingBytes);
      this.#pendingBytes += part.length;
      taken += part.length;
    }
  }

  rest(): Buffer {
    return this.#pending.subarray(0, this.#pendingBytes);
  }
}
