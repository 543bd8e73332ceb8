import { expect, test } from "vitest";
import { RecentEntries } from "./recent-entries.ts";

const start = 1_800_000_000_000;

function makeEntries(max: number) {
  const entries = new RecentEntries<string, number>({ max, periodMs: 1_000 });
  return {
    put: (key: string, at: number) => entries.put(key, at, start + at),
    known: (...keys: readonly string[]) => keys.filter((key) => entries.get(key) !== undefined),
    entries,
  };
}

test("an entry is remembered for its period, and forgotten when others come later", () => {
  const { put, known } = makeEntries(100);
  put("a", 0);
  put("b", 999);
  put("c", 1_000);
  expect(known("a", "b", "c")).toEqual(["a", "b", "c"]);
  put("d", 1_998);
  expect(known("a", "b", "c", "d")).toEqual(["a", "b", "c", "d"]);
  put("e", 2_000);
  expect(known("a", "b", "c", "d", "e")).toEqual(["c", "d", "e"]);
});

test("what is put again is remembered longer, with its new value", () => {
  const { put, entries } = makeEntries(100);
  put("a", 0);
  put("a", 1_500);
  put("b", 2_500);
  expect(entries.get("a")).toBe(1_500);
});

test("there are never more entries than the most, and at least half of them", () => {
  const { put, known } = makeEntries(11);
  const keys = Array.from({ length: 100 }, (_, number) => `${number}`);
  for (const [number, key] of keys.entries()) {
    put(key, 0);
    const remembered = known(...keys);
    expect(remembered.length).toBeLessThanOrEqual(11);
    expect(remembered).toEqual(keys.slice(number + 1 - remembered.length, number + 1));
    expect(remembered.length).toBeGreaterThanOrEqual(Math.min(5, number + 1));
  }
});

test("a clock that is set back makes nothing stay for ever", () => {
  const { put, known } = makeEntries(100);
  put("a", 3_600_000);
  put("b", 0);
  put("c", 1_000);
  expect(known("a", "b", "c")).toEqual(["b", "c"]);
});

test("an entry can be deleted in its later generation, too", () => {
  const { put, known, entries } = makeEntries(100);
  put("a", 0);
  put("b", 1_000);
  entries.delete("a");
  expect(known("a", "b")).toEqual(["b"]);
  entries.clear();
  expect(known("b")).toEqual([]);
});
