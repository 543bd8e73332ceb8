import { expect, it } from "vitest";
import { systemRandom } from "../base/random.ts";
import { makeReadableCode, readCode } from "./readable-code.ts";

it("is read in every common way of typing it", () => {
  const code = makeReadableCode(systemRandom);
  expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{5}-){4}[0-9a-hjkmnp-tv-z]{5}$/);
  const letters = code.replaceAll("-", "");
  for (const typed of [code, letters, code.toUpperCase(), ` ${code.replaceAll("-", " ")}\n`]) {
    expect(readCode(typed)).toBe(letters);
  }
  expect(readCode("O0lI1-aaaaa-bbbbb-ccccc-ddddd")).toBe("00111aaaaabbbbbcccccddddd");
});

it("is different each time", () => {
  expect(makeReadableCode(systemRandom)).not.toBe(makeReadableCode(systemRandom));
});

const wrong = ["", "aaaaa", "a".repeat(24), "a".repeat(26), "u".repeat(25), "!".repeat(25), "a".repeat(1_000_000)];
it.each([...wrong, " ".repeat(76) + "a".repeat(25)])("is not a code: %#", (typed) => {
  expect(readCode(typed)).toBeUndefined();
});
