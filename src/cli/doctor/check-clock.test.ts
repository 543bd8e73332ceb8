import { describe, expect, it } from "vitest";
import { minuteMs } from "../../base/clock.ts";
import { checkClock } from "./check-clock.ts";

const start = Date.UTC(2030, 0, 1);

/** Watches 250 ms of a clock that moves `wallMs` in the meantime. */
async function watch(wallMs: number, newestTime: number | undefined, startedAt = start) {
  const at = { wall: startedAt, monotonic: 0 };
  const [finding] = await checkClock({
    clock: { now: () => at.wall },
    monotonicMs: () => at.monotonic,
    pause: async () => {
      at.wall += wallMs;
      at.monotonic += 250;
    },
    newestTime,
  });
  return finding;
}

describe("checkClock", () => {
  it("accepts a clock that runs steadily and is not behind the database", async () => {
    expect(await watch(250, undefined)).toMatchObject({ level: "ok" });
    expect(await watch(251, start)).toMatchObject({ level: "ok" });
    expect(await watch(250, start + minuteMs)).toMatchObject({ level: "ok" });
  });

  it("fails if the clock is behind the database or set to 1970", async () => {
    expect(await watch(250, start + 2 * minuteMs)).toMatchObject({
      level: "fail",
      sentence: expect.stringContaining("2030-01-01T00:02:00.000Z"),
    });
    expect(await watch(250, undefined, 0)).toMatchObject({ level: "fail", sentence: expect.stringContaining("1970") });
  });

  it("warns if the clock jumps during the check", async () => {
    expect(await watch(-5_000, undefined)).toMatchObject({
      level: "warn",
      sentence: expect.stringContaining("5250 ms"),
    });
  });
});
