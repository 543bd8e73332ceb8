import { describe, expect, test } from "vitest";
import { type ByteRange, openStream, SealBrokenError } from "./stream-seal.ts";
import { headerBytes, sealedSegmentBytes, segmentBytes } from "./stream-segments.ts";
import { collect, openAll, patternBytes, readerOf, sealed, streamContext, streamKey } from "./stream-test-support.ts";
import { withFlippedBit } from "./test-support.ts";

const length = 3 * segmentBytes + 1000;
const plaintext = patternBytes(length);
const stored = await sealed(plaintext);
const header = stored.subarray(0, headerBytes);

function segment(of: Buffer, index: number): Buffer {
  const start = headerBytes + index * sealedSegmentBytes;
  return of.subarray(start, start + sealedSegmentBytes);
}

function segments(of: Buffer, ...indexes: number[]): Buffer {
  return Buffer.concat(indexes.map((index) => segment(of, index)));
}

async function expectBroken(bytes: Uint8Array, plaintextBytes = length): Promise<void> {
  await expect(collect(openAll(bytes, plaintextBytes))).rejects.toThrow(SealBrokenError);
}

test("an unchanged stream opens", async () => {
  expect((await collect(openAll(stored, length))).equals(plaintext)).toBe(true);
});

describe("changed streams", () => {
  const regions: [string, number][] = [["version", 0]];
  for (let at = 1; at < headerBytes; at += 1) regions.push([`nonce prefix ${at}`, at]);
  for (const index of [0, 1, 2, 3]) {
    const start = headerBytes + index * sealedSegmentBytes;
    const end = Math.min(start + sealedSegmentBytes, stored.length);
    regions.push([`first byte of segment ${index}`, start]);
    regions.push([`middle of segment ${index}`, start + 500]);
    for (let at = end - 16; at < end; at += 5) regions.push([`tag of segment ${index}`, at]);
  }

  test.each(regions)("a flipped bit: %s", async (_, at) => {
    await expectBroken(withFlippedBit(stored, at, at % 8));
  });

  test("truncation at any position", async () => {
    const edges = [0, 1, headerBytes - 1, headerBytes, headerBytes + 1, headerBytes + 16, stored.length - 1];
    for (const index of [1, 2, 3]) {
      const start = headerBytes + index * sealedSegmentBytes;
      edges.push(start - 1, start, start + 1);
    }
    for (const edge of edges) await expectBroken(stored.subarray(0, edge));
  });

  test("the last segment removed and the recorded length adjusted", async () => {
    await expectBroken(stored.subarray(0, headerBytes + 3 * sealedSegmentBytes), 3 * segmentBytes);
    await expectBroken(stored.subarray(0, headerBytes + sealedSegmentBytes), segmentBytes);
    await expectBroken(Buffer.concat([header, segment(stored, 3)]), 1000);
  });

  test("truncation within a segment and the recorded length adjusted", async () => {
    await expectBroken(stored.subarray(0, stored.length - 1), length - 1);
    await expectBroken(stored.subarray(0, headerBytes + 16), 0);
  });

  test("segments swapped, repeated or omitted", async () => {
    await expectBroken(Buffer.concat([header, segments(stored, 1, 0, 2, 3)]));
    await expectBroken(Buffer.concat([header, segments(stored, 0, 2, 1, 3)]));
    await expectBroken(Buffer.concat([header, segments(stored, 0, 0, 2, 3)]));
    await expectBroken(Buffer.concat([header, segments(stored, 0, 2, 3)]), 2 * segmentBytes + 1000);
    await expectBroken(Buffer.concat([header, segments(stored, 0, 1, 2, 2)]), 4 * segmentBytes);
    await expectBroken(Buffer.concat([header, segments(stored, 0, 1, 2, 3, 3)]), length + 1016);
  });

  test("segments of another stream under the same key, with either header", async () => {
    const other = await sealed(plaintext);
    for (const index of [0, 1, 2, 3]) {
      const mixed = [0, 1, 2, 3].map((at) => segment(at === index ? other : stored, at));
      await expectBroken(Buffer.concat([header, ...mixed]));
    }
    await expectBroken(Buffer.concat([other.subarray(0, headerBytes), segments(stored, 0, 1, 2, 3)]));
  });

  test("a source that returns more than was requested", async () => {
    const range = { start: 0, end: length - 1 };
    const tooMuch = Buffer.concat([stored, Buffer.alloc(1)]);
    const opened = openStream(streamKey, streamContext, {
      plaintextBytes: length,
      range,
      read: () => readerOf(tooMuch)({ start: 0, end: 1e9 }),
    });
    await expect(collect(opened)).rejects.toThrow(SealBrokenError);
  });

  test("the wrong key, and the wrong context", async () => {
    await expect(collect(openAll(stored, length, Buffer.alloc(32, 6)))).rejects.toThrow(SealBrokenError);
    await expect(collect(openAll(stored, length, streamKey, "file:4"))).rejects.toThrow(SealBrokenError);
  });

  test("the empty stream is verified too", async () => {
    const empty = await sealed(Buffer.alloc(0));
    expect(await openAll(empty, 0).next()).toEqual({ done: true, value: undefined });
    for (let at = 0; at < empty.length; at += 1) await expectBroken(withFlippedBit(empty, at), 0);
    for (let end = 0; end < empty.length; end += 1) await expectBroken(empty.subarray(0, end), 0);
    await expect(collect(openAll(empty, 0, Buffer.alloc(32, 6)))).rejects.toThrow(SealBrokenError);
  });

  test("bytes before a broken segment are verified, bytes after it are never returned", async () => {
    const broken = withFlippedBit(stored, headerBytes + 2 * sealedSegmentBytes + 9);
    const received: Buffer[] = [];
    const run = (async () => {
      for await (const chunk of openAll(broken, length)) received.push(chunk);
    })();
    await expect(run).rejects.toThrow("Segment 2 of the sealed stream does not open.");
    expect(Buffer.concat(received).equals(plaintext.subarray(0, 2 * segmentBytes))).toBe(true);
  });
});

describe("ranges", () => {
  const sealedStart = (index: number): number => headerBytes + index * sealedSegmentBytes;

  test.each<[string, ByteRange, ByteRange[]]>([
    ["the first byte", { start: 0, end: 0 }, [{ start: 0, end: sealedStart(1) - 1 }]],
    [
      "inside one segment",
      { start: segmentBytes + 5, end: segmentBytes + 6 },
      [
        { start: 0, end: 7 },
        { start: sealedStart(1), end: sealedStart(2) - 1 },
      ],
    ],
    [
      "across a segment boundary",
      { start: 2 * segmentBytes - 1, end: 2 * segmentBytes },
      [
        { start: 0, end: 7 },
        { start: sealedStart(1), end: sealedStart(3) - 1 },
      ],
    ],
    [
      "the last byte",
      { start: length - 1, end: length - 1 },
      [
        { start: 0, end: 7 },
        { start: sealedStart(3), end: stored.length - 1 },
      ],
    ],
    ["everything", { start: 0, end: length - 1 }, [{ start: 0, end: stored.length - 1 }]],
  ])("%s: reads the header and the segments of the range", async (_, range, expected) => {
    const asked: ByteRange[] = [];
    const opened = openStream(streamKey, streamContext, {
      plaintextBytes: length,
      range,
      read: readerOf(stored, [9_999], asked),
    });
    expect((await collect(opened)).equals(plaintext.subarray(range.start, range.end + 1))).toBe(true);
    expect(asked).toEqual(expected);
  });

  test("only a broken segment within the range is an error", async () => {
    const broken = withFlippedBit(stored, sealedStart(1) + 9);
    const open = (start: number, end: number) =>
      collect(
        openStream(streamKey, streamContext, { plaintextBytes: length, range: { start, end }, read: readerOf(broken) }),
      );
    expect((await open(0, segmentBytes - 1)).length).toBe(segmentBytes);
    expect((await open(2 * segmentBytes, length - 1)).length).toBe(segmentBytes + 1000);
    await expect(open(2 * segmentBytes - 1, 2 * segmentBytes - 1)).rejects.toThrow(SealBrokenError);
  });

  test.each<[number, number, number]>([
    [length, 0, length],
    [length, -1, 5],
    [length, 6, 5],
    [length, 0, -1],
    [length, 0.5, 5],
    [length, 0, Number.NaN],
    [0, 0, 0],
    [2 ** 48 + 1, 0, 0],
  ])("of %i bytes, %d to %d is refused before anything is read", async (plaintextBytes, start, end) => {
    const asked: ByteRange[] = [];
    const read = readerOf(stored, [1000], asked);
    const opened = openStream(streamKey, streamContext, { plaintextBytes, range: { start, end }, read });
    await expect(collect(opened)).rejects.toThrow(RangeError);
    expect(asked).toEqual([]);
  });
});

describe("the source", () => {
  test("its own errors are rethrown unchanged", async () => {
    const missing = new Error("no such blob");
    const opened = openStream(streamKey, streamContext, {
      plaintextBytes: length,
      range: { start: 0, end: 9 },
      read: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(missing) }),
      }),
    });
    await expect(collect(opened)).rejects.toBe(missing);
  });

  test("is closed when the receiver stops early or a segment does not open", async () => {
    let closed = 0;
    async function* source(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      try {
        yield* readerOf(bytes)({ start: 0, end: bytes.length });
      } finally {
        closed += 1;
      }
    }
    const range = { start: 0, end: length - 1 };
    for await (const _ of openStream(streamKey, streamContext, {
      plaintextBytes: length,
      range,
      read: () => source(stored),
    }))
      break;
    expect(closed).toBe(1);
    const broken = withFlippedBit(stored, headerBytes);
    const opened = openStream(streamKey, streamContext, { plaintextBytes: length, range, read: () => source(broken) });
    await expect(collect(opened)).rejects.toThrow(SealBrokenError);
    expect(closed).toBe(2);
  });

  test("returned chunks never change", async () => {
    const kept: Buffer[] = [];
    const copies: Buffer[] = [];
    for await (const chunk of openAll(stored, length)) {
      kept.push(chunk);
      copies.push(Buffer.from(chunk));
    }
    expect(kept).toEqual(copies);
  });
});
