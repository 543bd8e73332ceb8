import { minuteMs } from "../../src/base/clock.ts";
import { ClockTrust } from "../../src/base/clock-trust.ts";
import {
  removeExpiredRetries,
  removeExpiredTickets,
  type SweepDeps,
  type SweepReport,
  sweep,
} from "../../src/pushes/maintenance/sweep.ts";
import type { TestDomain } from "./domain.ts";

/** A ClockTrust that has seen ten minutes without a clock jump. */
export function earnedTrust(): ClockTrust {
  let ms = 0;
  const trust = new ClockTrust({ now: () => ms }, () => ms);
  ms = 11 * minuteMs;
  return trust;
}

export interface Sweeper {
  sweep(signal?: AbortSignal): Promise<SweepReport>;
  removeExpiredRetries(): Promise<number>;
  removeExpiredTickets(): Promise<number>;
  /** Reported failures of blob deletions. */
  readonly failures: readonly unknown[];
}

/** Sweeps the domain with its own clock, which is trusted unless the test passes another trust. */
export function makeSweeper(
  fixture: Pick<TestDomain, "domain" | "clock">,
  overrides: Partial<SweepDeps> = {},
): Sweeper {
  const failures: unknown[] = [];
  const deps: SweepDeps = {
    config: fixture.domain.config,
    clock: fixture.clock,
    clockTrust: earnedTrust(),
    monotonicMs: () => 0,
    store: fixture.domain.store,
    blobs: fixture.domain.blobs,
    abortAfter: (ms) => AbortSignal.timeout(ms),
    pause: async () => undefined,
    onBlobDeletionFailed: (error) => failures.push(error),
    onStepFailed(_step, error) {
      throw error;
    },
    ...overrides,
  };
  const neverAborted = new AbortController().signal;
  return {
    failures,
    sweep: (signal = neverAborted) => sweep(deps, signal),
    removeExpiredRetries: () => removeExpiredRetries(deps, neverAborted),
    removeExpiredTickets: () => removeExpiredTickets(deps, neverAborted),
  };
}
