import { Counter, Gauge, type Registry } from "prom-client";
import { type Clock, secondMs } from "../base/clock.ts";
import { type KindName, kindNames } from "../base/push-kinds.ts";

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
  const registers = [registry];
  const claims = new Counter({
    name: "sealpush_claims_total",
    help: "Attempts to view a push, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  // Starts at 0, so that the first one is an increase as well.
  const claimsBy = Object.fromEntries(claimOutcomes.map((outcome) => [outcome, fromZero(claims, outcome)]));
  const pushes = new Counter({
    name: "sealpush_pushes_created_total",
    help: "Pushes created, by kind.",
    labelNames: ["kind"],
    registers,
  });
  for (const kind of kindNames) fromZero(pushes, kind);
  const requests = new Counter({
    name: "sealpush_secret_requests_created_total",
    help: "Requests for secrets created.",
    registers,
  });
  const answers = new Counter({
    name: "sealpush_secret_request_answers_total",
    help: "Answers to requests for secrets, by who has sealed them.",
    labelNames: ["sealed_by"],
    registers,
  });
  for (const sealer of sealers) fromZero(answers, sealer);
  const sweepDone = countSweeps(registry, clock);
  const failures = new Counter({
    name: "sealpush_job_failures_total",
    help: "Failed runs of background jobs.",
    labelNames: ["job"],
    registers,
  });
  const mails = new Counter({
    name: "sealpush_mail_attempts_total",
    help: "Attempts to send an email, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of mailOutcomes) fromZero(mails, outcome);
  const bugs = new Counter({
    name: "sealpush_unexpected_errors_total",
    help: "Requests answered 500 because of a bug.",
    registers,
  });
  const storage = new Counter({
    name: "sealpush_storage_failures_total",
    help: "Failed writes of the database.",
    registers,
  });
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
  const registers = [registry];
  const swept = new Counter({
    name: "sealpush_swept_total",
    help: "Pushes and rows that the sweeper of this process has ended or removed.",
    labelNames: ["what"],
    registers,
  });
  const sweptAt = new Gauge({
    name: "sealpush_sweep_last_success_timestamp_seconds",
    help: "Time at which the last sweep ended; 0 before the first.",
    registers,
  });
  const trusted = new Gauge({
    name: "sealpush_clock_trusted",
    help: "Whether the clock has run without a jump for long enough that the sweeper removes what has expired.",
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
