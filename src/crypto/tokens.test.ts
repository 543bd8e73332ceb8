import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { fixedRandom } from "./test-support.ts";
import { makeOpaqueToken, makeUrlToken } from "./tokens.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("makeUrlToken", () => {
  test.each(vectors.urlToken)("$source", ({ random, token }) => {
    expect(makeUrlToken(fixedRandom(random))).toBe(token);
  });

  test("every character results from the same number of byte values, so all are equally likely", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte += 1) {
      const [letter = ""] = makeUrlToken({ bytes: (count) => Buffer.alloc(count, byte) });
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    expect(new Set(counts.values())).toEqual(new Set([8]));
  });

  test("is 26 lower-case letters and digits, different each time", () => {
    const tokens = Array.from({ length: 1000 }, () => makeUrlToken(systemRandom));
    for (const token of tokens) expect(token).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
    expect(new Set(tokens).size).toBe(tokens.length);
  });
});

describe("makeOpaqueToken", () => {
  test.each(vectors.opaqueToken)("$source", ({ random, prefix, token }) => {
    expect(makeOpaqueToken(fixedRandom(random), prefix)).toBe(token);
    expect(`${prefix}${makeOpaqueToken(fixedRandom(random))}`).toBe(token);
  });

  test("has 256 bits", () => {
    expect(makeOpaqueToken(systemRandom)).toMatch(/^[\w-]{43}$/);
    expect(makeOpaqueToken(systemRandom)).not.toBe(makeOpaqueToken(systemRandom));
  });
});
