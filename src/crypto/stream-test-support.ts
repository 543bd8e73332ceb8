import { systemRandom } from "../base/random.ts";
import { type ByteRange, openStream, sealStream } from "./stream-seal.ts";

export const streamKey = Buffer.alloc(32, 5);
export const streamContext = "file:3";

/** Bytes in which neither positions nor segments repeat. */
export function patternBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 7 + (at >> 8)) & 255;
  return bytes;
}

/** Yields chunks of these sizes, repeating the last size. All chunks share one buffer, as those of a file reader may. */
export async function* inChunks(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const reused = Buffer.alloc(Math.max(...sizes));
  let turn = 0;
  for (let at = 0; at < bytes.length; ) {
    const size = sizes[Math.min(turn, sizes.length - 1)] ?? 1;
    turn += 1;
    const part = bytes.subarray(at, at + size);
    reused.set(part);
    at += part.length;
    yield reused.subarray(0, part.length);
    reused.fill(0xee);
  }
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(Uint8Array.from(chunk));
  return Buffer.concat(collected);
}

export function sealed(plaintext: Uint8Array, key = streamKey, context = streamContext): Promise<Buffer> {
  return collect(sealStream(key, context, inChunks(plaintext, [50_000]), systemRandom));
}

/** A reader of stored bytes: returns the existing part of a range, and records the requested ranges. */
export function readerOf(stored: Uint8Array, sizes: readonly number[] = [30_000], asked: ByteRange[] = []) {
  return (range: ByteRange): AsyncIterable<Uint8Array> => {
    asked.push(range);
    return inChunks(stored.subarray(range.start, range.end + 1), sizes);
  };
}

export function openAll(stored: Uint8Array, plaintextBytes: number, key = streamKey, context = streamContext) {
  return openStream(key, context, {
    plaintextBytes,
    range: { start: 0, end: plaintextBytes - 1 },
    read: readerOf(stored),
  });
}
