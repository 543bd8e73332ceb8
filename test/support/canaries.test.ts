import { expect, test } from "vitest";
import { Canaries, searchFor } from "./canaries.ts";
import { SeededNumbers } from "./seeded-numbers.ts";

test("a search finds exactly the needles that occur, wherever they begin and however they overlap", () => {
  const numbers = new SeededNumbers(1);
  // Few different bytes, so that parts of needles occur often.
  const randomBytes = (length: number) => Buffer.from(Array.from({ length }, () => numbers.below(3)));
  for (let round = 0; round < 200; round += 1) {
    const needles = Array.from({ length: 8 }, () => ({ bytes: randomBytes(4 + numbers.below(3)) }));
    const bytes = randomBytes(numbers.below(300));
    const expected = needles.filter((needle) => bytes.includes(needle.bytes));
    expect(new Set(searchFor(needles)(bytes))).toEqual(new Set(expected));
  }
});

test("a canary is found at the beginning and at the end, whole and in part, and a new one in a later search", () => {
  const canaries = new Canaries();
  expect(canaries.namesIn(Buffer.from("nothing"))).toEqual([]);
  const first = canaries.makeCore("first");
  expect(canaries.namesIn(Buffer.from(first))).toEqual(["first"]);
  const second = canaries.makeCore("second");
  const bytes = Buffer.from(`${first.slice(0, 16)} between ${encodeURIComponent(second)}`);
  expect(canaries.namesIn(bytes)).toEqual(["first", "second"]);
  const base64 = Buffer.from(`x${second}`).toString("base64");
  expect(canaries.findingsIn(Buffer.from(base64))).toContain("second (base64 after 1)");
});
