import { describe, expect, test } from "vitest";
import { plaintextLength, sealedLength, segmentBytes, segmentCount, segmentNonce } from "./stream-segments.ts";
import { hex } from "./test-support.ts";

const prefix = hex("c0c1c2c3c4c5c6");

describe("segmentNonce", () => {
  test("consists of prefix, counter and last flag", () => {
    expect(segmentNonce(prefix, 0, false).toString("hex")).toBe("c0c1c2c3c4c5c60000000000");
    expect(segmentNonce(prefix, 0x01020304, true).toString("hex")).toBe("c0c1c2c3c4c5c60102030401");
    expect(segmentNonce(prefix, 2 ** 32 - 1, true).toString("hex")).toBe("c0c1c2c3c4c5c6ffffffff01");
  });

  test("refuses a counter that would overflow", () => {
    expect(() => segmentNonce(prefix, 2 ** 32, false)).toThrow(RangeError);
  });
});

describe("lengths", () => {
  test.each([
    [0, 1, 24],
    [1, 1, 25],
    [segmentBytes, 1, 65_560],
    [segmentBytes + 1, 2, 65_577],
    [2 ** 30, 16_384, 2 ** 30 + 8 + 16_384 * 16],
    [2 ** 48, 2 ** 32, 2 ** 48 + 8 + 2 ** 36],
  ])("%i bytes: %i segments, %i sealed bytes", (plaintextBytes, segments, sealedBytes) => {
    expect(segmentCount(plaintextBytes)).toBe(segments);
    expect(sealedLength(plaintextBytes)).toBe(sealedBytes);
    expect(plaintextLength(sealedBytes, plaintextBytes)).toBe(plaintextBytes);
  });

  test("a sealed part contains the plaintext of its whole segments", () => {
    const sealedSegment = segmentBytes + 16;
    const lengthOf = (sealedBytes: number) => plaintextLength(sealedBytes, 2 * segmentBytes + 1);
    expect([0, 7, 8, 8 + sealedSegment - 1].map(lengthOf)).toEqual([0, 0, 0, 0]);
    expect([8 + sealedSegment, 8 + 2 * sealedSegment - 1].map(lengthOf)).toEqual([segmentBytes, segmentBytes]);
    expect(lengthOf(8 + 2 * sealedSegment)).toBe(2 * segmentBytes);
    expect(lengthOf(8 + 2 * sealedSegment + 17)).toBe(2 * segmentBytes + 1);
  });

  test("refuses more segments than the counter allows, and invalid counts", () => {
    for (const bytes of [2 ** 48 + 1, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => sealedLength(bytes)).toThrow(RangeError);
    }
  });
});
