import { type Clock, minuteMs } from "./clock.ts";

const toleranceMs = minuteMs;
const probationMs = 10 * minuteMs;

/**
 * A wrong clock must not delete all data. The wall clock is trusted once it has run for 10 minutes after the start without
 * drifting from the monotonic clock by more than a minute between two checks.
 */
export class ClockTrust {
  readonly #clock: Clock;
  readonly #monotonicMs: () => number;
  #offset: number;
  #steadySince: number;

  constructor(clock: Clock, monotonicMs: () => number) {
    this.#clock = clock;
    this.#monotonicMs = monotonicMs;
    this.#steadySince = monotonicMs();
    this.#offset = clock.now() - this.#steadySince;
  }

  /** Call at every tick: jumps are only detected here. */
  check(): boolean {
    const monotonic = this.#monotonicMs();
    const offset = this.#clock.now() - monotonic;
    if (Math.abs(offset - this.#offset) > toleranceMs) this.#steadySince = monotonic;
    this.#offset = offset;
    return monotonic - this.#steadySince >= probationMs;
  }
}
