import { type Clock, secondMs } from "../base/clock.ts";

/**
 * What a state brings about thousands of times a second is said once a second; else a full disk would fill with it.
 * @param say is told how many were left suppressed since it last spoke.
 */
export function rateLimitedLog<T extends unknown[]>(
  clock: Clock,
  say: (suppressed: number, ...about: T) => void,
): (...about: T) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (...about) => {
    const now = clock.now();
    if (Math.abs(now - saidAt) < secondMs) {
      suppressed += 1;
      return;
    }
    saidAt = now;
    const before = suppressed;
    suppressed = 0;
    say(before, ...about);
  };
}
