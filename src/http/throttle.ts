import { type Clock, minuteMs, secondMs } from "../base/clock.ts";

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

/** About 10 MB. Beyond it the client that was added first is forgotten. */
const clientsMax = 50_000;

/**
 * Counts per client. A window begins with the first request after the previous window, not with the clock's minute: a
 * client cannot spend two limits around the change of a minute.
 */
export function createThrottle(limits: ThrottleLimits, clock: Clock): (clientKey: string) => number {
  if (limits.minute === 0 && limits.second === 0) return () => 0;
  const usages = new Map<string, Usage>();

  function usageOf(key: string, now: number): Usage {
    const known = usages.get(key);
    if (known !== undefined) return known;
    if (usages.size >= clientsMax) {
      const oldest = usages.keys().next();
      if (oldest.done !== true) usages.delete(oldest.value);
    }
    const usage = { minute: { startedAt: now, count: 0 }, second: { startedAt: now, count: 0 } };
    usages.set(key, usage);
    return usage;
  }

  return (key) => {
    const now = clock.now();
    const { minute, second } = usageOf(key, now);
    renew(minute, minuteMs, now);
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

/** A window that begins in the future was created before the clock was set back. It is dropped, so that no client waits for it. */
function renew(window: Window, lengthMs: number, now: number): void {
  if (now >= window.startedAt && now < window.startedAt + lengthMs) return;
  window.startedAt = now;
  window.count = 0;
}
