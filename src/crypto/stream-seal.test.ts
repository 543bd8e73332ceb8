import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { openStream, plaintextLength, sealedLength, sealedLengthBefore, sealPart, sealStream } from "./stream-seal.ts";
import { sealedSegmentBytes, segmentBytes } from "./stream-segments.ts";
import { collect, inChunks, patternBytes, readerOf, streamContext, streamKey } from "./stream-test-support.ts";
import { fixedRandom, hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("known answers", () => {
  test.each(vectors.stream)("$plaintextBytes bytes", async (vector) => {
    const plaintext = patternBytes(vector.plaintextBytes);
    const content = inChunks(plaintext, [1000]);
    const stored = await collect(sealStream(hex(vector.key), vector.context, content, fixedRandom(vector.noncePrefix)));
    expect(stored.length).toBe(vector.sealedBytes);
    expect(stored.length).toBe(sealedLength(vector.plaintextBytes));
    expect(createHash("sha256").update(stored).digest("hex")).toBe(vector.sealedSha256);
    if (vector.sealed !== undefined) expect(stored.toString("hex")).toBe(vector.sealed);

    const range = { start: 0, end: vector.plaintextBytes - 1 };
    const opened = openStream(hex(vector.key), vector.context, {
      plaintextBytes: vector.plaintextBytes,
      range,
      read: readerOf(stored),
    });
    expect((await collect(opened)).equals(plaintext)).toBe(true);
  });
});

const nearSegments = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -3, max: 3 }))
  .map(([segments, more]) => Math.max(0, segments * segmentBytes + more));
const anyLength = fc.oneof(nearSegments, fc.integer({ min: 0, max: 3 * segmentBytes }));
const anySizes = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 300_000 }),
    fc.constantFrom(segmentBytes - 1, segmentBytes, segmentBytes + 1, sealedSegmentBytes, 2 * segmentBytes),
  ),
  { minLength: 1, maxLength: 8 },
);
/** The last size in a list: large enough that a list of one-byte chunks stays short. */
const lastSize = fc.integer({ min: 5_000, max: 100_000 });

describe("round trip", () => {
  test("content of any length in any chunks opens again, and every range of it is exact", async () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        anyLength,
        fc.tuple(anySizes, lastSize),
        fc.tuple(anySizes, lastSize),
        fc.tuple(share, share),
        async (length, [sizesIn, lastIn], [sizesOut, lastOut], shares) => {
          const plaintext = patternBytes(length);
          const content = inChunks(plaintext, [...sizesIn, lastIn]);
          const stored = await collect(sealStream(streamKey, streamContext, content, systemRandom));
          expect(stored.length).toBe(sealedLength(length));
          const [start = 0, end = -1] =
            length === 0 ? [0, -1] : shares.map((part) => Math.floor(part * (length - 1))).sort((a, b) => a - b);
          const read = readerOf(stored, [...sizesOut, lastOut]);
          const opened = await collect(
            openStream(streamKey, streamContext, { plaintextBytes: length, range: { start, end }, read }),
          );
          expect(opened.equals(plaintext.subarray(start, end + 1))).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  test("sealing the same content twice gives different streams", async () => {
    const once = () => collect(sealStream(streamKey, streamContext, inChunks(patternBytes(100), [10]), systemRandom));
    const [a, b] = [await once(), await once()];
    expect(a.subarray(1, 8)).not.toEqual(b.subarray(1, 8));
    expect(a.subarray(8)).not.toEqual(b.subarray(8));
  });
});

describe("sealStream", () => {
  test("buffers at most one segment and reuses its memory, regardless of the content's length", async () => {
    const plaintext = patternBytes(10 * segmentBytes);
    const memory = new Set<ArrayBufferLike>();
    let segments = -1;
    let given = 0;
    async function* content(): AsyncGenerator<Uint8Array> {
      for await (const chunk of inChunks(plaintext, [16_384])) {
        given += chunk.length;
        yield chunk;
      }
    }
    for await (const chunk of sealStream(streamKey, streamContext, content(), systemRandom)) {
      segments += 1;
      // The header has its own buffer.
      if (segments > 0) memory.add(chunk.buffer);
      expect(chunk.length).toBeLessThanOrEqual(sealedSegmentBytes);
      expect(given).toBeLessThanOrEqual(segments * segmentBytes + 16_384);
    }
    expect(segments).toBe(10);
    expect(memory.size).toBe(1);
  });

  test("an interrupted stream does not open as a whole", async () => {
    const broken = new Error("connection lost");
    async function* content(): AsyncGenerator<Uint8Array> {
      yield patternBytes(segmentBytes + 1);
      throw broken;
    }
    const written: Buffer[] = [];
    const run = (async () => {
      for await (const chunk of sealStream(streamKey, streamContext, content(), systemRandom)) {
        written.push(Buffer.from(chunk));
      }
    })();
    await expect(run).rejects.toBe(broken);
    const stored = Buffer.concat(written);
    expect(stored.length).toBe(8 + sealedSegmentBytes);
    const opened = openStream(streamKey, streamContext, {
      plaintextBytes: segmentBytes,
      range: { start: 0, end: 0 },
      read: readerOf(stored),
    });
    await expect(collect(opened)).rejects.toThrow("Segment 0 of the sealed stream does not open.");
  });

  test("stopping early closes the content's iterator", async () => {
    let closed = false;
    async function* content(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield patternBytes(segmentBytes);
      } finally {
        closed = true;
      }
    }
    let chunks = 0;
    for await (const _ of sealStream(streamKey, streamContext, content(), systemRandom)) {
      chunks += 1;
      if (chunks === 3) break;
    }
    expect(closed).toBe(true);
  });
});

describe("sealPart", () => {
  test("parts that begin where the earlier ones ended are one stream, wherever their content breaks off", async () => {
    await fc.assert(
      fc.asyncProperty(anyLength, fc.array(anyLength, { maxLength: 6 }), async (plaintextBytes, lengths) => {
        const plaintext = patternBytes(plaintextBytes);
        const stream = { key: streamKey, context: streamContext, plaintextBytes };
        let stored: Buffer = Buffer.alloc(0);
        for (const length of [...lengths, plaintextBytes]) {
          const start = plaintextLength(stored.length, plaintextBytes);
          if (stored.length === sealedLength(plaintextBytes)) break;
          expect(stored.length).toBe(sealedLengthBefore(start));
          const content = inChunks(plaintext.subarray(start, start + length), [50_000]);
          stored = Buffer.concat([stored, await collect(sealPart(stream, start, content))]);
        }
        expect(stored.length).toBe(sealedLength(plaintextBytes));
        const range = { start: 0, end: plaintextBytes - 1 };
        const opened = await collect(
          openStream(streamKey, streamContext, { plaintextBytes, range, read: readerOf(stored, [30_000]) }),
        );
        expect(opened.equals(plaintext)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("refuses a start within a segment, and bytes after the end", async () => {
    const stream = { key: streamKey, context: streamContext, plaintextBytes: segmentBytes };
    const seal = (start: number, bytes: number) =>
      collect(sealPart(stream, start, inChunks(patternBytes(bytes), [9_000])));
    await expect(seal(1, 1)).rejects.toThrow(RangeError);
    await expect(seal(0, 2 * segmentBytes + 1)).rejects.toThrow(RangeError);
  });
});
