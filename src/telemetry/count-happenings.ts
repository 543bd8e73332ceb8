import { Counter, Gauge, type Registry } from "prom-client";
import { type Clock, secondMs } from "../base/clock.ts";
import { type KindName, kindNames } from "../base/push-kinds.ts";

export const claimOutcomes = [
  "revealed",
  "passphrase_required",
  "wrong_passphrase",
  "too_many_attempts",
  "gone",
  "unknown",
] as const;
export type CountedClaim = (typeof claimOutcomes)[number];

/** What happens in the domain, beside requests. Every label is a word of ours. */
export interface Happenings {
  claimed(outcome: CountedClaim): void;
  created(kind: KindName): void;
  jobDone(job: string, counts: Readonly<Record<string, number>>): void;
  jobFailed(job: string): void;
  mail(outcome: "sent" | "put_off" | "given_up"): void;
  unexpectedError(): void;
  storageFailed(): void;
}

export function countHappenings(registry: Registry, clock: Clock): Happenings {
  const registers = [registry];
  const claims = new Counter({
    name: "sealpush_claims_total",
    help: "Attempts to open a push, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  // From 0 on, so that the first one is an increase too.
  const claimsBy = Object.fromEntries(claimOutcomes.map((outcome) => [outcome, fromZero(claims, outcome)]));
  const pushes = new Counter({
    name: "sealpush_pushes_created_total",
    help: "Pushes made, by kind.",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of kindNames) fromZero(pushes, kind);
  const sweepDone = countSweeps(registry, clock);
  const failures = new Counter({
    name: "sealpush_job_failures_total",
    help: "Runs of the timetable's jobs that failed.",
    labelNames: ["job"],
    registers,
  });
  const mails = new Counter({
    name: "sealpush_mail_attempts_total",
    help: "Attempts to send a mail, by what came of them.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["sent", "put_off", "given_up"]) fromZero(mails, outcome);
  const bugs = new Counter({
    name: "sealpush_unexpected_errors_total",
    help: "Requests answered 500 because of a bug.",
    registers,
  });
  const storage = new Counter({
    name: "sealpush_storage_failures_total",
    help: "Times that the database could not write.",
    registers,
  });
  return {
    claimed: (outcome) => claimsBy[outcome]?.inc(),
    created: (kind) => pushes.inc({ kind }),
    jobDone(job, counts) {
      if (job === "sweep") sweepDone(counts);
    },
    jobFailed: (job) => failures.inc({ job: job.replaceAll(/[ -]/g, "_") }),
    mail: (outcome) => mails.inc({ outcome }),
    unexpectedError: () => bugs.inc(),
    storageFailed: () => storage.inc(),
  };
}

function countSweeps(registry: Registry, clock: Clock): (counts: Readonly<Record<string, number>>) => void {
  const registers = [registry];
  const swept = new Counter({
    name: "sealpush_swept_total",
    help: "What the sweeper of this process has ended or removed.",
    labelNames: ["what"],
    registers,
  });
  const sweptAt = new Gauge({
    name: "sealpush_sweep_last_success_timestamp_seconds",
    help: "When a sweep last came to its end; 0 before the first.",
    aggregator: "max",
    registers,
  });
  const trusted = new Gauge({
    name: "sealpush_clock_trusted",
    help: "Whether the clock has run without a jump for so long that the sweeper removes what is over.",
    aggregator: "min",
    registers,
  });
  return ({ clockTrusted = 0, ...removed }) => {
    trusted.set(clockTrusted);
    for (const [what, count] of Object.entries(removed)) swept.inc({ what: snakeCase(what) }, count);
    sweptAt.set(clock.now() / secondMs);
  };
}

function fromZero(counter: Counter, label: string): Counter.Internal {
  const series = counter.labels(label);
  series.inc(0);
  return series;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
