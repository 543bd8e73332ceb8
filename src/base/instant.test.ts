import { expect, test } from "vitest";
import { readInstant, readWallClock } from "./instant.ts";

test.each([
  ["2026-12-01T17:00:00Z", "2026-12-01T17:00:00.000Z"],
  ["2026-12-01T17:00Z", "2026-12-01T17:00:00.000Z"],
  ["2026-12-01T17:00:30.500Z", "2026-12-01T17:00:30.500Z"],
  ["2026-12-01T17:00:30.123+02:00", "2026-12-01T15:00:30.123Z"],
  ["2026-12-01T23:30-05:30", "2026-12-02T05:00:00.000Z"],
  ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
])("%s is an instant", (text, expected) => {
  expect(new Date(readInstant(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  "",
  "2026-12-01",
  "2026-12-01T17:00:00",
  "2026-12-01 17:00:00Z",
  "2026-12-01t17:00:00z",
  "2026-12-01T17Z",
  "2026-12-01T17:00.500Z",
  "2026-12-01T17:00:30.5Z",
  "2026-12-01T17:00:00.1234Z",
  "2026-12-01T17:00:00+0200",
  "2026-12-01T17:00:00+25:00",
  "2026-02-30T17:00:00Z",
  "2026-02-29T17:00:00Z",
  "2026-12-01T24:00:00Z",
  "2026-12-01T17:60:00Z",
  "2026-12-01T23:59:60Z",
  "2026-13-01T17:00:00Z",
  "+002026-12-01T17:00:00Z",
  "1796144400",
  " 2026-12-01T17:00:00Z",
])("%j is none", (text) => {
  expect(readInstant(text)).toBeUndefined();
});

test.each([
  ["2026-12-01T17:00", "UTC", "2026-12-01T17:00:00.000Z"],
  ["2026-12-01T17:00", "Europe/Berlin", "2026-12-01T16:00:00.000Z"],
  ["2026-07-01T17:00:30", "America/St_Johns", "2026-07-01T19:30:30.000Z"],
  ["2026-12-01T17:00", "+05:30", "2026-12-01T11:30:00.000Z"],
  // Clocks show it twice, and skip it.
  ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
  ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T00:30:00.000Z"],
])("%s in %s is an instant", (text, zone, expected) => {
  expect(new Date(readWallClock(text, zone) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  ["2026-12-01T17:00", "Atlantis"],
  ["2026-12-01T17:00", ""],
  ["2026-12-01T17:00Z", "UTC"],
  ["2026-02-30T17:00", "UTC"],
  ["2026-12-01", "UTC"],
  ["", "UTC"],
])("%j in %j is no instant", (text, zone) => {
  expect(readWallClock(text, zone)).toBeUndefined();
});
