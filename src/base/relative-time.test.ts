import { expect, test } from "vitest";
import { dayMs, hourMs, minuteMs, secondMs } from "./clock.ts";
import { relativeTimes } from "./relative-time.ts";

const english = relativeTimes("en");

test.each([
  [0, "now"],
  [-29 * secondMs, "now"],
  [-31 * secondMs, "1 minute ago"],
  [-59.6 * minuteMs, "1 hour ago"],
  [-3 * hourMs, "3 hours ago"],
  [35 * hourMs, "in 35 hours"],
  [2 * dayMs, "in 2 days"],
  [59 * dayMs, "in 59 days"],
  [-100 * dayMs, "3 months ago"],
  [-1_000 * dayMs, "3 years ago"],
])("%i ms away is shown in the words that people use", (differenceMs, shown) => {
  expect(english(1e12 + differenceMs, 1e12)).toBe(shown);
});

test("other languages use their own words and the requested digits", () => {
  expect(relativeTimes("de")(1e12 + dayMs * 3, 1e12)).toBe("in 3 Tagen");
  expect(relativeTimes("ar-u-nu-latn")(1e12 - hourMs * 12, 1e12)).toBe("قبل 12 ساعة");
});
