import { expect, test } from "vitest";
import { unavailable } from "../base/errors.ts";
import type { RequestCounts } from "../limits/request-counts.ts";
import { createSharedThrottle } from "./shared-throttle.ts";

const start = 1_800_000_000_000;

/** One row per client, as in the database, for windows that do not end while the test runs. */
function countInMemory(): RequestCounts {
  const totals = new Map<string, { minute: number; second: number }>();
  return {
    async add(key, passed, now) {
      const before = totals.get(key) ?? { minute: 0, second: 0 };
      const after = { minute: before.minute + passed.minute, second: before.second + passed.second };
      totals.set(key, after);
      return {
        minute: { startedAt: now, count: after.minute },
        second: { startedAt: now, count: after.second },
      };
    },
  };
}

test("while the database does not answer, a process counts alone, retries rarely, and logs it", async () => {
  const time = { now: start, monotonicMs: 0 };
  const failures: unknown[] = [];
  let asked = 0;
  const charge = createSharedThrottle({
    limits: { minute: 5, second: 0 },
    clock: { now: () => time.now },
    monotonicMs: () => time.monotonicMs,
    counts: {
      async add() {
        asked += 1;
        throw unavailable("The database does not answer.", 2);
      },
    },
    onUnanswered: (error) => failures.push(error),
  });
  const waits: number[] = [];
  for (let request = 0; request < 7; request += 1) waits.push(await charge("a"));
  expect(waits).toEqual([0, 0, 0, 0, 0, 60, 60]);
  expect([asked, failures.length]).toEqual([1, 1]);
  time.monotonicMs += 1_000;
  await charge("b");
  expect(asked).toBe(2);
});

test("a bug is not treated as an unavailable database", async () => {
  const charge = createSharedThrottle({
    limits: { minute: 5, second: 0 },
    clock: { now: () => start },
    monotonicMs: () => 0,
    counts: { add: () => Promise.reject(new TypeError("A bug.")) },
    onUnanswered: () => undefined,
  });
  await expect(charge("a")).rejects.toThrow("A bug.");
});

test("a window that began ahead by another machine's clock still counts", async () => {
  const counts = countInMemory();
  const add: RequestCounts["add"] = async (key, passed, now) => {
    const { minute, second } = await counts.add(key, passed, now);
    return { minute: { ...minute, startedAt: now + 5_000 }, second };
  };
  const charge = createSharedThrottle({
    limits: { minute: 2, second: 0 },
    clock: { now: () => start },
    monotonicMs: () => 0,
    counts: { add },
    onUnanswered: () => undefined,
  });
  expect([await charge("a"), await charge("a"), await charge("a")]).toEqual([0, 0, 60]);
});

test("the number of remembered addresses is bounded", async () => {
  const charge = createSharedThrottle({
    limits: { minute: 32, second: 0 },
    clock: { now: () => start },
    monotonicMs: () => 0,
    counts: countInMemory(),
    onUnanswered: () => undefined,
  });
  for (let request = 0; request < 32; request += 1) await charge("first");
  expect(await charge("first")).toBe(60);
  for (let client = 0; client < 50_000; client += 1) await charge(`a${client}`);
  expect(await charge("first")).toBe(0);
});
