import { expect, it } from "vitest";
import { isVisibleLine, oneLineOf } from "./one-line.ts";

it.each([
  ["an emoji of several", "\u{1f469}\u{1f3fd}\u200d\u{1f4bb}"],
  ["a Persian word", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
  ["a flag and a heart", "\u{1f1ef}\u{1f1f5} \u2764\ufe0f"],
  ["the flag of Scotland", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}!"],
  ["Japanese and Arabic", "\u5831\u544a\u66f8 \u062a\u0642\u0631\u064a\u0631"],
])("keeps %s", (_what, text) => {
  expect(isVisibleLine(text)).toBe(true);
  expect(oneLineOf(text)).toBe(text);
});

it.each([
  ["a line end", "a\nb"],
  ["a line separator", "a\u2028b"],
  ["a reversed direction", "a\u202eb"],
  ["a zero-width space", "a\u200bb"],
  ["a null", "a\0b"],
  ["a text in tag characters", "a\u{e0068}\u{e0069}b"],
])("takes %s out", (_what, text) => {
  expect(isVisibleLine(text)).toBe(false);
  expect(oneLineOf(text)).toBe("a b");
});

it.each(["", " ", "\u200d", "\u3000"])("is no name of which nothing is seen: %j", (text) => {
  expect(isVisibleLine(text)).toBe(false);
});
