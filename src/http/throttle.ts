import { type Clock, minuteMs, secondMs } from "../base/clock.ts";
import { RecentEntries } from "../base/recent-entries.ts";

export interface ThrottleLimits {
  /** Requests per client in a window of one minute and of one second; 0 is off. */
  readonly minute: number;
  readonly second: number;
}

/** Charges one request of a client. @returns 0 when it may pass, else the seconds to wait. */
export type ChargeKey = (clientKey: string) => number | Promise<number>;

export type ChargeRequest = (clientKey: string, isPoll: boolean) => number | Promise<number>;

/**
 * Open pages ask again by themselves. These requests get half of a client's limits, and count in the whole: twenty open pages of
 * an office behind one address would otherwise leave nothing for the people there.
 * @param create makes the throttle for these limits.
 */
export function createChargeRequest(
  limits: ThrottleLimits,
  create: (limits: ThrottleLimits) => ChargeKey,
): ChargeRequest {
  const half = (limit: number) => Math.ceil(limit / 2);
  const charge = create(limits);
  const chargePoll = create({ minute: half(limits.minute), second: half(limits.second) });
  return (clientKey, isPoll) => {
    if (!isPoll) return charge(clientKey);
    const next = (waitSeconds: number) => (waitSeconds > 0 ? waitSeconds : charge(clientKey));
    const waits = chargePoll(`polls of ${clientKey}`);
    return typeof waits === "number" ? next(waits) : waits.then(next);
  };
}

interface Window {
  startedAt: number;
  count: number;
}

interface Usage {
  readonly minute: Window;
  readonly second: Window;
}

/** Clients are put when their longer window begins. 50,000 are about 10 MB. */
export const clientsRemembered = { max: 50_000, periodMs: minuteMs };

/**
 * Counts per client. A window begins with the first request after the previous window, not with the clock's minute: a
 * client cannot spend two limits around the change of a minute.
 */
export function createThrottle(limits: ThrottleLimits, clock: Clock): (clientKey: string) => number {
  if (limits.minute === 0 && limits.second === 0) return () => 0;
  const usages = new RecentEntries<string, Usage>(clientsRemembered);
  return (key) => {
    const now = clock.now();
    const usage = usages.get(key) ?? { minute: notBegun(), second: notBegun() };
    const { minute, second } = usage;
    if (renew(minute, minuteMs, now)) usages.put(key, usage, now);
    renew(second, secondMs, now);
    if (limits.minute !== 0 && minute.count >= limits.minute) {
      return Math.max(1, Math.ceil((minute.startedAt + minuteMs - now) / secondMs));
    }
    if (limits.second !== 0 && second.count >= limits.second) return 1;
    minute.count += 1;
    second.count += 1;
    return 0;
  };
}

function notBegun(): Window {
  return { startedAt: Number.NEGATIVE_INFINITY, count: 0 };
}

/**
 * A window that begins in the future was created before the clock was set back. It is dropped, so that no client waits for it.
 * @returns whether a new window begins.
 */
function renew(window: Window, lengthMs: number, now: number): boolean {
  if (now >= window.startedAt && now < window.startedAt + lengthMs) return false;
  window.startedAt = now;
  window.count = 0;
  return true;
}
