import { expect, it } from "vitest";
import { booleanOf, exactTimeOf, timeOf, wholeNumberOf } from "./cells.ts";

it.each([
  ["2026-11-20 12:34:56.123456", Date.UTC(2026, 10, 20, 12, 34, 56, 123)],
  ["2026-11-20 12:34:56.999999", Date.UTC(2026, 10, 20, 12, 34, 56, 999)],
  ["2026-11-20 12:34:56.5", Date.UTC(2026, 10, 20, 12, 34, 56, 500)],
  ["2026-11-20 12:34:56", Date.UTC(2026, 10, 20, 12, 34, 56)],
  ["2026-11-20T12:34:56Z", Date.UTC(2026, 10, 20, 12, 34, 56)],
])("reads %s as UTC, at any precision", (text, time) => {
  expect(timeOf(text)).toBe(time);
});

it.each([
  null,
  undefined,
  "",
  "0000-00-00 00:00:00",
  "2026-13-01 00:00:00",
  "2026-02-30 00:00:00",
  "infinity",
  "yesterday",
  "2026-11-20",
  1763642096,
])("reads %j as no time", (cell) => {
  expect(timeOf(cell)).toBeUndefined();
});

it("writes times of all engines in one format", () => {
  expect(exactTimeOf("2026-11-20 12:34:56.1")).toBe(exactTimeOf("2026-11-20 12:34:56.100000"));
  expect(exactTimeOf("2026-11-20 12:34:56")).toBe("2026-11-20 12:34:56.000000");
});

it("reads the booleans of the three engines, reads NULL as false, and rejects other words", () => {
  for (const cell of [1, "1", "t", "true", "TRUE"]) expect(booleanOf(cell)).toBe(true);
  for (const cell of [0, "0", "f", "false", null, undefined, ""]) expect(booleanOf(cell)).toBe(false);
  for (const cell of [2, "2", -1, "maybe", "\u0000"]) expect(booleanOf(cell)).toBeUndefined();
});

it("rejects numbers that JavaScript cannot hold exactly", () => {
  expect(wholeNumberOf("9007199254740991")).toBe(Number.MAX_SAFE_INTEGER);
  for (const cell of ["9007199254740993", "1.5", "", "1e3", null]) expect(wholeNumberOf(cell)).toBeUndefined();
});
