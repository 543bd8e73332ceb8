import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, test, vi } from "vitest";
import { digest, equalDigests } from "./digests.ts";
import { withFlippedBit } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("digest", () => {
  test.each(vectors.sha256)("$text", (vector) => {
    expect(digest(vector.text).toString("hex")).toBe(vector.digest);
  });
});

describe("equalDigests", () => {
  test("distinguishes equal from different bytes, also of different lengths", () => {
    const one = digest("one");
    expect(equalDigests(one, Buffer.from(one))).toBe(true);
    expect(equalDigests(one, Uint8Array.from(one))).toBe(true);
    for (let at = 0; at < one.length; at += 1) expect(equalDigests(one, withFlippedBit(one, at, at % 8))).toBe(false);
    expect(equalDigests(one, one.subarray(1))).toBe(false);
    expect(equalDigests(one, Buffer.alloc(0))).toBe(false);
    expect(equalDigests(Buffer.alloc(0), Buffer.alloc(0))).toBe(true);
  });

  test("compares in constant time, which no answer shows", () => {
    const compare = vi.spyOn(crypto, "timingSafeEqual");
    syncBuiltinESMExports();
    try {
      expect(equalDigests(digest("one"), digest("two"))).toBe(false);
      expect(compare).toHaveBeenCalledTimes(1);
    } finally {
      compare.mockRestore();
      syncBuiltinESMExports();
    }
  });
});
