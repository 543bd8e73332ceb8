/** Milliseconds since the Unix epoch, UTC. Everything that depends on time takes a `Clock`; nothing else reads one. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that is corrected while it runs, so that all processes on one database use the database's time. */
export class CorrectedClock implements Clock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  readonly correct = (byMs: number): void => {
    this.#aheadMs += byMs;
  };
}

/** Calls `run` at this interval until the returned function is called. */
export type Every = (ms: number, run: () => void) => () => void;

/** Does not keep the process running. */
export const systemEvery: Every = (ms, run) => {
  const timer = setInterval(run, ms).unref();
  return () => clearInterval(timer);
};

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * How far ahead of its time, as read by a process, a stored time is still valid: the clocks of two machines differ, and a process
 * that took its time first may write or compare it last, after waiting for the database. What is later was stored before a
 * clock was set back.
 */
export const clockSpreadMs = 60 * secondMs;
