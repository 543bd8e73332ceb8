import { type Clock, minuteMs, secondMs } from "../base/clock.ts";

export interface ThrottleLimits {
  /** Requests per client in a window of one minute and of one second; 0 is off. */
  readonly minute: number;
  readonly second: number;
}

interface Usage {
  minute: number;
  minuteCount: number;
  second: number;
  secondCount: number;
}

/** Clients remembered at once, about 10 MB. Beyond it the one that has been known longest is forgotten. */
const clientsMax = 50_000;

/**
 * Fixed windows per client key.
 * @returns a function that charges one request: 0 when it may pass, else the seconds until it may.
 */
export function createThrottle(limits: ThrottleLimits, clock: Clock): (clientKey: string) => number {
  if (limits.minute === 0 && limits.second === 0) return () => 0;
  const usages = new Map<string, Usage>();

  function usageOf(key: string, minute: number): Usage {
    const known = usages.get(key);
    if (known !== undefined) return known;
    if (usages.size >= clientsMax) {
      const oldest = usages.keys().next();
      if (oldest.done !== true) usages.delete(oldest.value);
    }
    const usage = { minute, minuteCount: 0, second: 0, secondCount: 0 };
    usages.set(key, usage);
    return usage;
  }

  return (key) => {
    const now = clock.now();
    const second = Math.floor(now / secondMs);
    const minute = Math.floor(now / minuteMs);
    const usage = usageOf(key, minute);
    if (usage.minute !== minute) {
      usage.minute = minute;
      usage.minuteCount = 0;
    }
    if (usage.second !== second) {
      usage.second = second;
      usage.secondCount = 0;
    }
    if (limits.minute !== 0 && usage.minuteCount >= limits.minute) {
      return Math.ceil(((minute + 1) * minuteMs - now) / secondMs);
    }
    if (limits.second !== 0 && usage.secondCount >= limits.second) return 1;
    usage.minuteCount += 1;
    usage.secondCount += 1;
    return 0;
  };
}
