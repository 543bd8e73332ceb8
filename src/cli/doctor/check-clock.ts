import { type Clock, minuteMs } from "../../base/clock.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** A clock that shows an earlier time is wrong. */
const earliestTime = Date.UTC(2025, 0, 1);
const aheadMsMax = minuteMs;
const driftMsMax = 100;

export interface ClockCheckDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** Long enough to detect a clock that is being adjusted. */
  readonly pause: () => Promise<void>;
  readonly newestTime: number | undefined;
}

/** Expiry depends on the clock: it must not be earlier than the newest entry, and must run at the right speed. */
export async function checkClock({ clock, monotonicMs, pause, newestTime }: ClockCheckDeps): Promise<Finding[]> {
  const before = { wall: clock.now(), monotonic: monotonicMs() };
  await pause();
  const now = clock.now();
  const driftMs = Math.abs(now - before.wall - (monotonicMs() - before.monotonic));
  const shown = new Date(now).toISOString();

  if (now < earliestTime) return [fail("clock", `It shows ${shown}, which is wrong: set it.`)];
  if (newestTime !== undefined && newestTime > now + aheadMsMax) {
    const newest = new Date(newestTime).toISOString();
    return [fail("clock", `It shows ${shown}, but the database was written at ${newest}: the clock was set back.`)];
  }
  if (driftMs > driftMsMax) {
    return [warn("clock", `It moved by ${Math.round(driftMs)} ms against the monotonic clock during the check.`)];
  }
  return [ok("clock", `It shows ${shown}, runs steadily and is not earlier than the newest entry of the database.`)];
}
