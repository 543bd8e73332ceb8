import { expect, test } from "vitest";
import { createLastUse } from "./last-use.ts";

function make(fails = false) {
  const recorded: (readonly [key: string, at: number, address: string])[] = [];
  const failures: unknown[] = [];
  const lastUse = createLastUse<string, [address: string]>({
    intervalMs: 1_000,
    async record(key, at, address) {
      recorded.push([key, at, address]);
      if (fails) throw new Error("Not recorded.");
    },
    onFailure: (error) => failures.push(error),
  });
  return { lastUse, recorded, failures };
}

test("simultaneous uses are recorded once per key, and again after the interval", () => {
  const { lastUse, recorded } = make();
  for (let use = 0; use < 100; use += 1) lastUse.note("a", null, 5_000, "here");
  lastUse.note("b", null, 5_000, "there");
  lastUse.note("a", 5_000, 5_999, "here");
  expect(recorded).toEqual([
    ["a", 5_000, "here"],
    ["b", 5_000, "there"],
  ]);
  lastUse.note("a", 5_000, 6_000, "here");
  expect(recorded).toHaveLength(3);
});

test("a use that another process has just recorded is not recorded again", () => {
  const { lastUse, recorded } = make();
  lastUse.note("a", 4_500, 5_000, "here");
  expect(recorded).toEqual([]);
});

test("a time from before the clock was set back is overwritten", () => {
  const { lastUse, recorded } = make();
  lastUse.note("a", 900_000, 5_000, "here");
  expect(recorded).toHaveLength(1);
});

test("a failure is reported, and no use waits for it", async () => {
  const { lastUse, failures } = make(true);
  lastUse.note("a", null, 5_000, "here");
  await Promise.resolve();
  await Promise.resolve();
  expect(failures).toHaveLength(1);
});
