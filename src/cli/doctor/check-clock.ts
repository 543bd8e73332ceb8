import { type Clock, minuteMs } from "../../base/clock.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** No clock that is set can show an earlier time. */
const earliestTime = Date.UTC(2025, 0, 1);
const aheadMsMax = minuteMs;
const driftMsMax = 100;

export interface ClockCheckDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** Long enough to see a clock that is being moved. */
  readonly pause: () => Promise<void>;
  readonly newestTime: number | undefined;
}

/** Expiry hangs on the clock: it must not be before what was written, and must run as fast as time does. */
export async function checkClock({ clock, monotonicMs, pause, newestTime }: ClockCheckDeps): Promise<Finding[]> {
  const before = { wall: clock.now(), monotonic: monotonicMs() };
  await pause();
  const now = clock.now();
  const driftMs = Math.abs(now - before.wall - (monotonicMs() - before.monotonic));
  const shown = new Date(now).toISOString();

  if (now < earliestTime) return [fail("clock", `It shows ${shown}, which cannot be: set it.`)];
  if (newestTime !== undefined && newestTime > now + aheadMsMax) {
    const newest = new Date(newestTime).toISOString();
    return [fail("clock", `It shows ${shown}, but the database was written at ${newest}: the clock was set back.`)];
  }
  if (driftMs > driftMsMax) {
    return [warn("clock", `It moved by ${Math.round(driftMs)} ms against the steady clock while being watched.`)];
  }
  return [ok("clock", `It shows ${shown}, runs steadily and is not before the newest entry of the database.`)];
}
