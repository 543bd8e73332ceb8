import { minuteMs, secondMs } from "../base/clock.ts";

/**
 * Wrong codes of one account, from whatever address and session and at whichever door. Only who has signed in or knows
 * the password gets as far as to guess, so no stranger can fill it; passkeys, which nobody guesses, are not counted.
 */
export const factorLimits = { failuresMax: 10, windowMs: 15 * minuteMs } as const;

/** Of one account, as it lies in the store. */
export interface FactorFailures {
  readonly count: number;
  /** When the window began, in milliseconds since the epoch. */
  readonly since: number;
}

/** @returns the failures that still count. A window from the future means that the clock was set back: it is over. */
export function currentFailures(stored: FactorFailures, now: number): FactorFailures {
  const current = now >= stored.since && now < stored.since + factorLimits.windowMs;
  return current ? stored : { count: 0, since: now };
}

/** @returns seconds until codes are tried again; 0: they are tried. */
export function factorWaitSeconds(failures: FactorFailures, now: number): number {
  if (failures.count < factorLimits.failuresMax) return 0;
  return Math.max(1, Math.ceil((failures.since + factorLimits.windowMs - now) / secondMs));
}
