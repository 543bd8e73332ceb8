import { expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/open-database.ts";
import { createRequestCounts, type RequestCounts } from "../limits/request-counts.ts";
import { createSharedThrottle } from "./shared-throttle.ts";
import type { ThrottleLimits } from "./throttle.ts";

/** The counts of several processes on one database. */
async function openCounts(processes: number): Promise<readonly RequestCounts[]> {
  const first = await openTestDatabase();
  const counts = [createRequestCounts(first.db)];
  while (counts.length < processes) counts.push(createRequestCounts((await openTestDatabase(first.url)).db));
  return counts;
}

async function start(processes: number, limits: ThrottleLimits) {
  const time = { now: 1_800_000_000_000, monotonicMs: 0 };
  let asked = 0;
  const throttles = (await openCounts(processes)).map((counts) =>
    createSharedThrottle({
      limits,
      clock: { now: () => time.now },
      monotonicMs: () => time.monotonicMs,
      counts: {
        add(...request) {
          asked += 1;
          return counts.add(...request);
        },
      },
      onUnanswered(error) {
        throw error;
      },
    }),
  );
  let next = 0;
  return {
    time,
    asked: () => asked,
    /** Charges one process after another. */
    charge: async (key = "a") => {
      const throttle = throttles[next % throttles.length];
      next += 1;
      if (throttle === undefined) throw new Error("No process listens.");
      return await throttle(key);
    },
  };
}

const passed = (waits: readonly number[]) => waits.filter((wait) => wait === 0).length;

test("a small limit is exact over all processes, and for each client alone", async () => {
  const { time, charge } = await start(2, { minute: 5, second: 0 });
  const waits: number[] = [];
  for (let request = 0; request < 8; request += 1) waits.push(await charge());
  expect(waits).toEqual([0, 0, 0, 0, 0, 60, 60, 60]);
  expect(await charge("b")).toBe(0);
  time.now += 60_000;
  expect([await charge(), await charge()]).toEqual([0, 0]);
});

test("the limit of a second over all processes, then a wait of one second", async () => {
  const { time, charge } = await start(2, { minute: 0, second: 3 });
  expect([await charge(), await charge(), await charge(), await charge()]).toEqual([0, 0, 0, 1]);
  time.now += 1_000;
  expect(await charge()).toBe(0);
});

test("of simultaneous requests exactly as many pass as the limit allows", async () => {
  const { charge } = await start(2, { minute: 20, second: 0 });
  const waits = await Promise.all(Array.from({ length: 100 }, () => charge()));
  expect(passed(waits)).toBe(20);
  expect(await charge()).toBeGreaterThan(0);
});

test("with a large limit each process lets less than a sixteenth more pass and rarely asks the database", async () => {
  const { charge, asked } = await start(4, { minute: 320, second: 0 });
  const waits: number[] = [];
  for (let request = 0; request < 320; request += 1) waits.push(await charge());
  expect(passed(waits)).toBe(320);
  expect(asked()).toBe(320 / (320 / 16));
  for (let request = 0; request < 400; request += 1) waits.push(await charge());
  expect(passed(waits)).toBeGreaterThanOrEqual(320);
  expect(passed(waits)).toBeLessThan(320 + 4 * (320 / 16));
});

test("a client with few requests causes no database access", async () => {
  const { charge, asked } = await start(1, { minute: 120, second: 60 });
  for (const client of ["a", "b", "c", "d"]) for (let request = 0; request < 2; request += 1) await charge(client);
  expect(asked()).toBe(0);
});
