import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dayMs, hourMs } from "../src/base/clock.ts";
import { ClockTrust } from "../src/base/clock-trust.ts";
import type { Domain } from "../src/domain.ts";
import { sweep } from "../src/pushes/maintenance/sweep.ts";
import { inParallel, openBenchDomain, ShiftedClock, stranger } from "./bench-domain.ts";
import { seededRandom } from "./claim-choice.ts";
import { Latencies } from "./latencies.ts";
import { claimOnce, StoredPushes } from "./stored-pushes.ts";

export interface SweepPlan {
  readonly expired: number;
  readonly claimsPerSecond: number;
  /** Duration of the measurement before the sweep starts. */
  readonly calmMs: number;
  /** The most claims while the sweep runs. */
  readonly claimsMax: number;
}

export interface SweepLatencies {
  readonly calm: Latencies;
  readonly sweeping: Latencies;
  readonly sweepMs: number;
  readonly ended: number;
}

const tickMs = 1;

/**
 * Claims arrive at a constant rate, whether or not earlier ones were answered, and are timed from their due time: first
 * with many expired pushes in the database, then while the sweeper ends them.
 */
export async function measureSweepLatencies(folder: string, plan: SweepPlan): Promise<SweepLatencies> {
  const clock = new ShiftedClock();
  let monotonicShiftMs = 0;
  const clockTrust = new ClockTrust(clock, () => performance.now() + monotonicShiftMs);
  const domain = await openBenchDomain(join(folder, "sweep"), clock);
  const short = { payload: "soon over", expireAfterMs: hourMs, expireAfterViews: 5 };
  await inParallel(plan.expired, 64, async () => {
    await domain.pushes.create(short, stranger);
  });
  const calmClaims = Math.ceil((plan.calmMs / 1_000) * plan.claimsPerSecond);
  const stored = new StoredPushes(domain, calmClaims + plan.claimsMax);
  await stored.fillTo(calmClaims + plan.claimsMax);
  const tokens = stored.take("uniform", calmClaims + plan.claimsMax, seededRandom(plan.expired));
  clock.shift(dayMs);
  monotonicShiftMs = dayMs;

  const calm = await claimSteadily(domain, tokens.splice(0, calmClaims), plan.claimsPerSecond, () => false);
  let swept = false;
  const startedAt = performance.now();
  const { config, blobs, store } = domain;
  const data = { config, blobs, store };
  const monotonicMs = () => performance.now();
  const pause = (ms: number) => sleep(ms);
  const onBlobDeletionFailed = (error: unknown) => console.error(error);
  const onStepFailed = (step: string, error: unknown) => console.error(step, error);
  const abortAfter = (ms: number) => AbortSignal.timeout(ms);
  const deps = { ...data, clock, clockTrust, monotonicMs, pause, abortAfter, onBlobDeletionFailed, onStepFailed };
  const sweeping = sweep(deps, new AbortController().signal).finally(() => {
    swept = true;
  });
  const during = await claimSteadily(domain, tokens, plan.claimsPerSecond, () => swept);
  const report = await sweeping;
  const sweepMs = performance.now() - startedAt;
  await domain.close();
  return { calm, sweeping: during, sweepMs, ended: report.ended };
}

async function claimSteadily(
  domain: Domain,
  tokens: readonly string[],
  perSecond: number,
  done: () => boolean,
): Promise<Latencies> {
  const latencies = new Latencies();
  const running: Promise<void>[] = [];
  const startedAt = performance.now();
  let sent = 0;
  while (sent < tokens.length && !done()) {
    const due = Math.min(tokens.length, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due; sent += 1) {
      const dueAt = startedAt + (sent / perSecond) * 1_000;
      const claim = claimOnce(domain, tokens[sent] ?? "");
      running.push(claim.then(() => latencies.record((performance.now() - dueAt) * 1_000)));
    }
    await sleep(tickMs);
  }
  await Promise.all(running);
  return latencies;
}
