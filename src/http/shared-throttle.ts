import { type Clock, minuteMs, secondMs } from "../base/clock.ts";
import type { RequestCounts, RequestTotal } from "../limits/request-counts.ts";
import { unansweredOrThrow } from "../limits/shared-limits.ts";
import type { ChargeRequest, ThrottleLimits } from "./throttle.ts";

export interface SharedThrottleDeps {
  readonly limits: ThrottleLimits;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly counts: RequestCounts;
  readonly onUnanswered: (error: unknown) => void;
}

/** What part of a limit one process may let pass before it tells the others. */
const unsaidPart = 1 / 16;
const clientsMax = 50_000;
/** After the database has not answered, the process counts alone for so long. */
const restMs = secondMs;

interface Window {
  readonly lengthMs: number;
  /** 0 is off. */
  readonly max: number;
  startedAt: number;
  /** What all processes have let pass, as far as this one knows. */
  count: number;
  /** What this process has let pass and has not told. */
  suppressed: number;
  /** What came to `count` from others: it moves the places of one's own requests that wait for an answer. */
  learned: number;
  /** How many windows there were before it. */
  number: number;
}

interface Usage {
  readonly windows: readonly [minute: Window, second: Window];
  passed: number;
  /** How many of those passed the others have been told of. */
  said: number;
  saying: Promise<void> | undefined;
}

/** Where a request stands in a window: beyond the limit it was one too many. */
interface Place {
  readonly window: Window;
  readonly number: number;
  readonly ordinal: number;
}

/**
 * As `createThrottle`, over all processes on one database. To ask it for every request would cost each a round trip, so
 * a process tells what a client has done, and learns what it did elsewhere, when it has let a sixteenth of a limit pass
 * since it last did; the request that makes it due waits for the answer. So a client passes at most its limit, and less
 * than a sixteenth of it more for each process; limits below 32 are kept exactly. While the database does not answer, each
 * process counts alone.
 */
export function createSharedThrottle(deps: SharedThrottleDeps): ChargeRequest {
  const { limits, clock, monotonicMs, counts, onUnanswered } = deps;
  if (limits.minute === 0 && limits.second === 0) return () => 0;
  const usages = new Map<string, Usage>();
  let restsUntilMs = Number.NEGATIVE_INFINITY;

  function usageOf(key: string, now: number): Usage {
    const known = usages.get(key);
    if (known !== undefined) return known;
    const [oldest] = usages.keys();
    if (usages.size >= clientsMax && oldest !== undefined) usages.delete(oldest);
    const made = makeUsage(limits, now);
    usages.set(key, made);
    return made;
  }

  async function say(key: string, usage: Usage): Promise<void> {
    const now = clock.now();
    const [minute, second] = usage.windows;
    const { passed } = usage;
    const said = { minute: minute.suppressed, second: second.suppressed };
    const adoptMinute = take(minute);
    const adoptSecond = take(second);
    try {
      const totals = await counts.add(key, said, now);
      adoptMinute(totals.minute, now);
      adoptSecond(totals.second, now);
    } catch (error) {
      onUnanswered(unansweredOrThrow(error));
      restsUntilMs = monotonicMs() + restMs;
    } finally {
      usage.said = passed;
      usage.saying = undefined;
    }
  }

  async function passWhenSaid(key: string, usage: Usage, places: readonly Place[]): Promise<number> {
    const own = usage.passed;
    while (usage.said < own && monotonicMs() >= restsUntilMs) {
      usage.saying ??= say(key, usage);
      await usage.saying;
    }
    const now = clock.now();
    const over = places.filter(isBeyond);
    return over.length === 0 ? 0 : Math.max(...over.map(({ window }) => secondsLeft(window, now)));
  }

  return (key) => {
    const now = clock.now();
    const usage = usageOf(key, now);
    for (const window of usage.windows) renew(window, now);
    const full = usage.windows.find((window) => window.max !== 0 && window.count >= window.max);
    if (full !== undefined) return secondsLeft(full, now);
    usage.passed += 1;
    const places = usage.windows.map(enter);
    return usage.windows.some(isDue) ? passWhenSaid(key, usage, places) : 0;
  };
}

function makeUsage(limits: ThrottleLimits, now: number): Usage {
  const fresh = { startedAt: now, count: 0, suppressed: 0, learned: 0, number: 0 };
  const minute = { lengthMs: minuteMs, max: limits.minute, ...fresh };
  const second = { lengthMs: secondMs, max: limits.second, ...fresh };
  return { windows: [minute, second], passed: 0, said: 0, saying: undefined };
}

function renew(window: Window, now: number): void {
  if (now >= window.startedAt && now < window.startedAt + window.lengthMs) return;
  Object.assign(window, { startedAt: now, count: 0, suppressed: 0, learned: 0, number: window.number + 1 });
}

function enter(window: Window): Place {
  window.count += 1;
  window.suppressed += 1;
  return { window, number: window.number, ordinal: window.count - window.learned };
}

function isDue({ max, suppressed }: Window): boolean {
  return max !== 0 && suppressed >= Math.max(1, Math.floor(max * unsaidPart));
}

/** A request whose window is over by now was none too many in it. */
function isBeyond({ window, number, ordinal }: Place): boolean {
  return window.max !== 0 && window.number === number && ordinal + window.learned > window.max;
}

/** @returns what brings the answer in, unless the window is over by then. */
function take(window: Window): (total: RequestTotal, now: number) => void {
  const { number } = window;
  window.suppressed = 0;
  return (total, now) => {
    if (window.number !== number) return;
    const count = total.count + window.suppressed;
    window.learned += count - window.count;
    window.count = count;
    // One that another machine's clock began ahead of ours must not look like one from before ours was set back.
    window.startedAt = Math.min(total.startedAt, now);
  };
}

function secondsLeft({ startedAt, lengthMs }: Window, now: number): number {
  return Math.max(1, Math.ceil((startedAt + lengthMs - now) / secondMs));
}
