import { describe, expect, test } from "vitest";
import { systemRandom } from "../base/random.ts";
import { fixedRandom } from "./test-support.ts";
import { makeOpaqueToken, makeReadableCharacters } from "./tokens.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("makeReadableCharacters", () => {
  test("every character results from the same number of byte values, so all are equally likely", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte += 1) {
      const letter = makeReadableCharacters({ bytes: (count) => Buffer.alloc(count, byte) }, 1);
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    expect(new Set(counts.values())).toEqual(new Set([8]));
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
