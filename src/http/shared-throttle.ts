import { type Clock, minuteMs, secondMs } from "../base/clock.ts";
import { RecentEntries } from "../base/recent-entries.ts";
import type { RequestCounts, RequestTotal } from "../limits/request-counts.ts";
import { unansweredOrThrow } from "../limits/shared-limits.ts";
import { type ChargeKey, clientsRemembered, type ThrottleLimits } from "./throttle.ts";

interface SharedThrottleDeps {
  readonly limits: ThrottleLimits;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly counts: RequestCounts;
  readonly onUnanswered: (error: unknown) => void;
}

/** The share of a limit that a process admits before it reports to the others. */
const unreportedShareMax = 1 / 16;
/** After the database has not answered, the process counts alone for this long. */
const pauseMs = secondMs;

interface Window {
  readonly lengthMs: number;
  /** 0 is off. */
  readonly max: number;
  startedAt: number;
  /** Requests that all processes admitted, as far as this process knows. */
  count: number;
  /** Requests that this process admitted and has not reported. */
  unreported: number;
  /** The part of `count` that other processes admitted. It moves this process's waiting requests back in the order. */
  fromOthers: number;
  /** Number of the current window: the next one may begin while a request waits for an answer. */
  number: number;
}

interface Usage {
  readonly windows: readonly [minute: Window, second: Window];
  passed: number;
  /** How many of `passed` have been reported. */
  reported: number;
  reporting: Promise<void> | undefined;
}

/** A request's position in a window: beyond the limit it is refused. */
interface ThrottleEntry {
  readonly window: Window;
  readonly number: number;
  readonly ordinal: number;
}

/**
 * As `createThrottle`, over all processes on one database. Querying the database for every request would cost each a round
 * trip. So a process reports a client's requests and reads those of the others only once it has admitted a sixteenth of a
 * limit; the request that makes the report due waits for it. Each process can therefore admit less than a sixteenth of the
 * limit beyond it; limits below 32 are exact. While the database does not answer, each process counts alone.
 */
export function createSharedThrottle(deps: SharedThrottleDeps): ChargeKey {
  const { limits, clock, monotonicMs, counts, onUnanswered } = deps;
  if (limits.minute === 0 && limits.second === 0) return () => 0;
  const usages = new RecentEntries<string, Usage>(clientsRemembered);
  let pausedUntilMs = Number.NEGATIVE_INFINITY;

  function usageOf(key: string, now: number): Usage {
    const usage = usages.get(key) ?? newUsage(limits);
    const [minute, second] = usage.windows;
    if (renew(minute, now)) usages.put(key, usage, now);
    renew(second, now);
    return usage;
  }

  async function report(key: string, usage: Usage): Promise<void> {
    const now = clock.now();
    const [minute, second] = usage.windows;
    const { passed } = usage;
    const unreported = { minute: minute.unreported, second: second.unreported };
    const adoptMinute = beginReport(minute);
    const adoptSecond = beginReport(second);
    try {
      const totals = await counts.add(key, unreported, now);
      adoptMinute(totals.minute, now);
      adoptSecond(totals.second, now);
    } catch (error) {
      onUnanswered(unansweredOrThrow(error));
      pausedUntilMs = monotonicMs() + pauseMs;
    } finally {
      usage.reported = passed;
      usage.reporting = undefined;
    }
  }

  async function chargeAfterReport(key: string, usage: Usage, entries: readonly ThrottleEntry[]): Promise<number> {
    const own = usage.passed;
    while (usage.reported < own && monotonicMs() >= pausedUntilMs) {
      usage.reporting ??= report(key, usage);
      await usage.reporting;
    }
    const now = clock.now();
    const over = entries.filter(isOverLimit);
    return over.length === 0 ? 0 : Math.max(...over.map(({ window }) => secondsLeft(window, now)));
  }

  return (key) => {
    const now = clock.now();
    const usage = usageOf(key, now);
    const full = usage.windows.find((window) => window.max !== 0 && window.count >= window.max);
    if (full !== undefined) return secondsLeft(full, now);
    usage.passed += 1;
    const entries = usage.windows.map(enter);
    return usage.windows.some(isReportDue) ? chargeAfterReport(key, usage, entries) : 0;
  };
}

function newUsage({ minute, second }: ThrottleLimits): Usage {
  const windows = [notBegun(minuteMs, minute), notBegun(secondMs, second)] as const;
  return { windows, passed: 0, reported: 0, reporting: undefined };
}

function notBegun(lengthMs: number, max: number): Window {
  return { lengthMs, max, startedAt: Number.NEGATIVE_INFINITY, count: 0, unreported: 0, fromOthers: 0, number: 0 };
}

/** @returns whether a new window begins. */
function renew(window: Window, now: number): boolean {
  if (now >= window.startedAt && now < window.startedAt + window.lengthMs) return false;
  Object.assign(window, { startedAt: now, count: 0, unreported: 0, fromOthers: 0, number: window.number + 1 });
  return true;
}

function enter(window: Window): ThrottleEntry {
  window.count += 1;
  window.unreported += 1;
  return { window, number: window.number, ordinal: window.count - window.fromOthers };
}

function isReportDue({ max, unreported }: Window): boolean {
  return max !== 0 && unreported >= Math.max(1, Math.floor(max * unreportedShareMax));
}

/** Never true once the window of the request has ended. */
function isOverLimit({ window, number, ordinal }: ThrottleEntry): boolean {
  return window.max !== 0 && window.number === number && ordinal + window.fromOthers > window.max;
}

/** @returns the function that applies the answered total, unless the window has ended by then. */
function beginReport(window: Window): (total: RequestTotal, now: number) => void {
  const { number } = window;
  window.unreported = 0;
  return (total, now) => {
    if (window.number !== number) return;
    const count = total.count + window.unreported;
    window.fromOthers += count - window.count;
    window.count = count;
    // Another machine's clock may be ahead. A start in the future would look as if this clock had been set back.
    window.startedAt = Math.min(total.startedAt, now);
  };
}

function secondsLeft({ startedAt, lengthMs }: Window, now: number): number {
  return Math.max(1, Math.ceil((startedAt + lengthMs - now) / secondMs));
}
