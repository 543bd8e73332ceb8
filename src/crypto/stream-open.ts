import { countShortLivedBuffers } from "../base/garbage.ts";
import { aesKey, decrypt, tagBytes } from "./aes-gcm.ts";
import {
  associatedData,
  headerBytes,
  sealedLength,
  sealedSegmentBytes,
  segmentBytes,
  segmentCount,
  segmentNonce,
  streamVersion,
} from "./stream-segments.ts";

/** The sealed bytes were truncated, reordered, spliced or changed, or belong to another key or context. */
export class SealBrokenError extends Error {
  override readonly name = "SealBrokenError";
}

/** Byte positions, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Opens a part of a sealed stream in constant memory, reading only the header and the segments that contain it.
 * No byte is returned before its segment is verified. Only the last segment proves that a stream is complete: a range that
 * ends before it proves nothing about what follows.
 * @param plaintextBytes of the whole stream, as counted when it was sealed.
 * @param range in plaintext bytes, inside the stream. For an empty stream: start 0, end -1, which yields nothing and
 *   verifies the empty segment.
 * @param read returns sealed bytes in chunks of any size, each unchanged until the next is requested.
 * @returns exactly the range, in chunks that the caller owns.
 * @throws SealBrokenError; RangeError when the range is not inside the stream.
 */
export async function* openStream(
  key: Buffer,
  context: string,
  sealed: {
    readonly plaintextBytes: number;
    readonly range: ByteRange;
    readonly read: (range: ByteRange) => AsyncIterable<Uint8Array>;
  },
): AsyncGenerator<Buffer, void, undefined> {
  const { plaintextBytes, range, read } = sealed;
  const lastIndex = segmentCount(plaintextBytes) - 1;
  checkRange(range, plaintextBytes);
  const firstIndex = Math.floor(range.start / segmentBytes);
  const endIndex = Math.max(firstIndex, Math.floor(range.end / segmentBytes));
  const lengths = pieceLengths(plaintextBytes, firstIndex, endIndex);

  let openSegment: ReturnType<typeof openHeader> | undefined;
  let index = firstIndex;
  for await (const piece of cut(readPieces(plaintextBytes, firstIndex, endIndex, read), lengths)) {
    if (openSegment === undefined) {
      openSegment = openHeader(key, context, piece);
      continue;
    }
    const plaintext = openSegment(piece, index, index === lastIndex);
    const segmentStart = index * segmentBytes;
    index += 1;
    const part = plaintext.subarray(Math.max(0, range.start - segmentStart), Math.max(0, range.end + 1 - segmentStart));
    if (part.length > 0) yield part;
  }
}

function checkRange(range: ByteRange, plaintextBytes: number): void {
  const { start, end } = range;
  if (plaintextBytes === 0 && start === 0 && end === -1) return;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start || end >= plaintextBytes) {
    throw new RangeError("The range is not inside the stream.");
  }
}

/** The header, then each requested segment. */
function* pieceLengths(
  plaintextBytes: number,
  firstIndex: number,
  endIndex: number,
): Generator<number, void, undefined> {
  yield headerBytes;
  for (let index = firstIndex; index <= endIndex; index += 1) {
    yield Math.min(segmentBytes, plaintextBytes - index * segmentBytes) + tagBytes;
  }
}

async function* readPieces(
  plaintextBytes: number,
  firstIndex: number,
  endIndex: number,
  read: (range: ByteRange) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const start = headerBytes + firstIndex * sealedSegmentBytes;
  const end = Math.min(headerBytes + (endIndex + 1) * sealedSegmentBytes, sealedLength(plaintextBytes)) - 1;
  if (firstIndex === 0) {
    yield* read({ start: 0, end });
    return;
  }
  yield* read({ start: 0, end: headerBytes - 1 });
  yield* read({ start, end });
}

/**
 * Splits chunks of any size into pieces of the given lengths, at most `sealedSegmentBytes` each. A piece is valid until the next
 * is requested: it is a part of its chunk, or of one shared buffer if it spans several chunks.
 * @throws SealBrokenError when the source has fewer or more bytes.
 */
async function* cut(
  source: AsyncIterable<Uint8Array>,
  lengths: Iterator<number, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pending = Buffer.allocUnsafe(sealedSegmentBytes);
  let pendingBytes = 0;
  let wanted = lengths.next();
  for await (const chunk of source) {
    let taken = 0;
    while (taken < chunk.length) {
      if (wanted.done === true) throw new SealBrokenError("The sealed stream is longer than what was sealed.");
      const part = chunk.subarray(taken, taken + wanted.value - pendingBytes);
      taken += part.length;
      if (part.length === wanted.value) {
        yield part;
        wanted = lengths.next();
        continue;
      }
      pending.set(part, pendingBytes);
      pendingBytes += part.length;
      if (pendingBytes < wanted.value) continue;
      yield pending.subarray(0, pendingBytes);
      pendingBytes = 0;
      wanted = lengths.next();
    }
  }
  if (wanted.done !== true) throw new SealBrokenError("The sealed stream ends too early.");
}

/**
 * The header is verified with the first segment, whose associated data it is.
 * @returns a function that opens one segment.
 */
function openHeader(key: Buffer, context: string, header: Uint8Array) {
  if (header[0] !== streamVersion) throw new SealBrokenError("The sealed stream has an unknown version.");
  const data = associatedData(header, context);
  const secret = aesKey(key);
  const prefix = data.subarray(1, headerBytes);
  return (sealed: Uint8Array, index: number, last: boolean): Buffer => {
    const plaintext = decrypt(secret, segmentNonce(prefix, index, last), data, sealed);
    if (plaintext === undefined) throw new SealBrokenError(`Segment ${index} of the sealed stream does not open.`);
    countShortLivedBuffers(sealed.length + plaintext.length);
    return plaintext;
  };
}
