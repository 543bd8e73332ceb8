import type { Counter, Registry } from "prom-client";
import { type Clock, secondMs } from "../base/clock.ts";
import { type KindName, kindNames } from "../base/push-kinds.ts";
import { metricsIn } from "./registered-metrics.ts";

export const claimOutcomes = [
  "revealed",
  "passphrase_required",
  "wrong_passphrase",
  "too_many_attempts",
  "key_used",
  "gone",
  "unknown",
] as const;
export type CountedClaim = (typeof claimOutcomes)[number];

const mailOutcomes = ["sent", "put_off", "given_up"] as const;
/** The party that sealed the answer to a request. */
const sealers = ["sender", "server"] as const;
type MailOutcome = (typeof mailOutcomes)[number];

export type DomainCounters = ReturnType<typeof createDomainCounters>;

/** Counters of what happens in the domain, apart from HTTP requests. All label values come from this program. */
export function createDomainCounters(registry: Registry, clock: Clock) {
  const { counter } = metricsIn(registry);
  const claims = counter("sealpush_claims_total", "Attempts to view a push, by outcome.", ["outcome"]);
  // Starts at 0, so that the first one is an increase as well.
  const claimsBy = Object.fromEntries(claimOutcomes.map((outcome) => [outcome, fromZero(claims, outcome)]));
  const pushes = counter("sealpush_pushes_created_total", "Pushes created, by kind.", ["kind"]);
  for (const kind of kindNames) fromZero(pushes, kind);
  const requests = counter("sealpush_secret_requests_created_total", "Requests for secrets created.");
  const answers = counter(
    "sealpush_secret_request_answers_total",
    "Answers to requests for secrets, by who has sealed them.",
    ["sealed_by"],
  );
  for (const sealer of sealers) fromZero(answers, sealer);
  const sweepDone = countSweeps(registry, clock);
  const failures = counter("sealpush_job_failures_total", "Failed runs of background jobs.", ["job"]);
  const mails = counter("sealpush_mail_attempts_total", "Attempts to send an email, by outcome.", ["outcome"]);
  for (const outcome of mailOutcomes) fromZero(mails, outcome);
  const bugs = counter("sealpush_unexpected_errors_total", "Requests answered 500 because of a bug.");
  const storage = counter("sealpush_storage_failures_total", "Failed writes of the database.");
  return {
    claimed: (outcome: CountedClaim) => claimsBy[outcome]?.inc(),
    created: (kind: KindName) => pushes.inc({ kind }),
    requested: () => requests.inc(),
    answered: (isSealed: boolean) => answers.inc({ sealed_by: isSealed ? sealers[0] : sealers[1] }),
    jobDone(job: string, counts: Readonly<Record<string, number>>) {
      if (job === "sweep") sweepDone(counts);
    },
    jobFailed: (job: string) => failures.inc({ job: job.replaceAll(/[ -]/g, "_") }),
    mail: (outcome: MailOutcome) => mails.inc({ outcome }),
    unexpectedError: () => bugs.inc(),
    storageFailed: () => storage.inc(),
  };
}

function countSweeps(registry: Registry, clock: Clock): (counts: Readonly<Record<string, number>>) => void {
  const { counter, gauge } = metricsIn(registry);
  const swept = counter(
    "sealpush_swept_total",
    "Pushes and rows that the sweeper of this process has ended or removed.",
    ["what"],
  );
  const sweptAt = gauge(
    "sealpush_sweep_last_success_timestamp_seconds",
    "Time at which the last sweep ended; 0 before the first.",
  );
  const trusted = gauge(
    "sealpush_clock_trusted",
    "Whether the clock has run without a jump for long enough that the sweeper removes what has expired.",
  );
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
