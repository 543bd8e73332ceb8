import { expect, test } from "vitest";
import { randomPassword } from "./password.ts";

test("a password has the length and the characters that were asked for", () => {
  expect(randomPassword()).toMatch(/^[A-HJ-NP-Za-km-z2-9\-_.+%@:,]{20}$/);
  expect(randomPassword({ length: 1_024, symbols: false })).toMatch(/^[A-HJ-NP-Za-km-z2-9]{1024}$/);
  expect(randomPassword()).not.toBe(randomPassword());
});

test("every character is about as frequent as the others", () => {
  const counts = new Map<string, number>();
  for (let at = 0; at < 100; at += 1) {
    for (const character of randomPassword({ length: 1_024 })) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect(counts.size).toBe(64);
  // 1,600 of each are expected; eight standard deviations are 317.
  for (const count of counts.values()) expect(Math.abs(count - 1_600)).toBeLessThan(317);
});

test.each([7, 1_025, 1.5, Number.NaN])("a length of %d is refused", (length) => {
  expect(() => randomPassword({ length })).toThrow("A password has 8 to 1024 characters.");
});
