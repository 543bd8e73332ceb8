import { hkdfSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hkdf } from "./hkdf.ts";
import { hex } from "./test-support.ts";
import vectors from "./vectors.json" with { type: "json" };

describe("hkdf", () => {
  test.each(vectors.hkdfSha256)("$source", ({ ikm, salt, info, okm }) => {
    expect(hkdf(hex(ikm), hex(salt), hex(info), okm.length / 2).toString("hex")).toBe(okm);
    expect(hkdf(hex(ikm), hex(salt), hex(info), 5).toString("hex")).toBe(okm.slice(0, 10));
  });

  test("equals the implementation of node:crypto", () => {
    const bytes = fc.uint8Array({ maxLength: 150 });
    const info = fc.string({ unit: "grapheme", maxLength: 100 });
    fc.assert(
      fc.property(bytes, bytes, info, fc.integer({ min: 1, max: 300 }), (ikm, salt, purpose, lengthBytes) => {
        const expected = Buffer.from(hkdfSync("sha256", ikm, salt, purpose, lengthBytes));
        expect(hkdf(ikm, salt, purpose, lengthBytes)).toEqual(expected);
      }),
    );
  });

  test("returns up to 255 blocks and refuses other lengths", () => {
    const ikm = Buffer.from("key");
    expect(hkdf(ikm, ikm, "", 8160)).toEqual(Buffer.from(hkdfSync("sha256", ikm, ikm, "", 8160)));
    for (const lengthBytes of [0, -1, 1.5, 8161, Number.NaN]) {
      expect(() => hkdf(ikm, ikm, "", lengthBytes)).toThrow(RangeError);
    }
  });
});
