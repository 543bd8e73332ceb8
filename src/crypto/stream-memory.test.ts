import { expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { openStream, sealStream, segmentBytes } from "./stream-seal.ts";
import { streamContext, streamKey } from "./stream-test-support.ts";

const segments = 2_048;
const plaintextBytes = segments * segmentBytes;

/** New buffers, as a socket or a disk gives them. */
async function* newChunks(): AsyncGenerator<Buffer> {
  for (let index = 0; index < segments; index += 1) yield Buffer.alloc(segmentBytes, index);
}

/** The most bytes outside the heap while the chunks are read, in addition to those before. */
async function peakBufferBytes(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  for await (const _ of chunks) peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  return peak;
}

test("128 MiB are sealed and opened with less than 16 MiB of buffers in memory", async () => {
  expect(await peakBufferBytes(sealStream(streamKey, streamContext, newChunks(), systemRandom))).toBeLessThan(2 ** 24);

  const reread = () => sealStream(streamKey, streamContext, newChunks(), systemRandom);
  const range = { start: 0, end: plaintextBytes - 1 };
  expect(
    await peakBufferBytes(openStream(streamKey, streamContext, { plaintextBytes, range, read: reread })),
  ).toBeLessThan(2 ** 24);
});
