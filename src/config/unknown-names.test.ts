import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editDistance, nearestName } from "./unknown-names.ts";

describe("the edit distance", () => {
  it("counts insertions, deletions, replacements and swaps", () => {
    const cases: [string, string, number][] = [
      ["", "", 0],
      ["abc", "", 3],
      ["", "abc", 3],
      ["kitten", "sitting", 3],
      ["MINUET", "MINUTE", 1],
      ["ca", "abc", 3],
    ];
    for (const [from, to, distance] of cases) expect(editDistance(from, to), `${from}-${to}`).toBe(distance);
  });

  it("is symmetric, zero only for equals, and at most the longer length", () => {
    const word = fc.string({ unit: fc.constantFrom("A", "B", "_"), maxLength: 12 });
    fc.assert(
      fc.property(word, word, (from, to) => {
        const distance = editDistance(from, to);
        expect(distance).toBe(editDistance(to, from));
        expect(distance === 0).toBe(from === to);
        expect(distance).toBeLessThanOrEqual(Math.max(from.length, to.length));
      }),
    );
  });
});

describe("the nearest name", () => {
  const known = ["PWP__LOG_LEVEL", "PWP__PURGE_AFTER", "PWP__PW__ENABLE_BLUR"];

  it("is found for a misspelling, in any case", () => {
    expect(nearestName("PWP__LOGLEVEL", known)).toBe("PWP__LOG_LEVEL");
    expect(nearestName("pwp__purge_atfer", known)).toBe("PWP__PURGE_AFTER");
    expect(nearestName("PWP--LOG-LEVEL", known)).toBe("PWP__LOG_LEVEL");
    expect(nearestName("pwp.log.level", known)).toBe("PWP__LOG_LEVEL");
  });

  it("is not found if more than a typing mistake differs, or in very long names", () => {
    for (const name of ["PWP__NOINDEX", "PWP__PW__BLUR", "PWP__BRAND__TAGLINE", "P".repeat(10_000)]) {
      expect(nearestName(name, known), name).toBeUndefined();
    }
    expect(nearestName("PWP__LOG_LEVEL", [])).toBeUndefined();
  });
});
