import { randomUUID } from "node:crypto";
import { type Every, hourMs, minuteMs, secondMs } from "../base/clock.ts";
import type { JobName, JobRun } from "../database/job-runs.ts";
import { createProcessRegistry, heartbeatMs, unseenAfterMs } from "../database/processes.ts";
import { type Domain, type Effects, followDatabaseClock } from "../domain.ts";
import { runBulkEndings } from "../pushes/maintenance/bulk-endings.ts";
import { removeExpiredRetries, removeExpiredTickets, sweep } from "../pushes/maintenance/sweep.ts";
import { ReplacedSecretError, WrongMasterKeyError } from "../pushes/vault.ts";
import { type Events, summarizeError } from "../telemetry/events.ts";

const sweepEveryMs = 30 * secondMs;
/** Each run costs one read of an index. */
const expiredKeysEveryMs = secondMs;
/**
 * Each run costs one read of an index. Emails are not sent by the request that creates them: the time of its answer would
 * show a client whether an email address has an account.
 */
const mailEveryMs = secondMs;
const viewNotificationsEveryMs = secondMs;
const bulkEndingsEveryMs = secondMs;
/** Another process may have changed the theme. */
const themeEveryMs = secondMs;
const expiredSessionsMax = 500;
const abandonedLinksMax = 500;
const expiredStepsMax = 5_000;
const oldRequestsMax = 500;
/** Clients create a few of these rows per attempt, so they are removed as fast as they are created. */
const limitsEveryMs = minuteMs;
const limitsMax = 5_000;

interface TimetableEffects extends Effects {
  readonly every: Every;
  /** This process has missed a change of the secrets and must end: it cannot open what others seal, or accepts nobody. */
  readonly onSecretsMissed: (error: Error) => void;
}

interface Reporting {
  readonly events: Events;
  readonly log: ReturnType<typeof createRunLog>;
  readonly stop: AbortSignal;
}

/** What the jobs do that is more than one call. */
function createWork(domain: Domain, effects: TimetableEffects, { events, log, stop }: Reporting) {
  const { config, blobs, store, clockTrust } = domain;
  const { clock, monotonicMs, pause, abortAfter } = effects;
  const onStepFailed = (step: string, error: unknown) => {
    events.jobFailed(`sweep ${step}`, error);
    log.failed("sweep", `${step}: ${summarizeError(error)}`);
  };
  const onBlobDeletionFailed = (error: unknown) => {
    events.jobFailed("blob deletion", error);
    log.failed("sweep", `blob deletions: ${summarizeError(error)}`);
  };
  const parts = { config, blobs, store, clock, clockTrust };
  const deps = { ...parts, monotonicMs, pause, abortAfter, onBlobDeletionFailed, onStepFailed };
  let clockWasTrusted = false;
  const sweepOnce = async () => {
    const { clockTrusted, ...counts } = await sweep(deps, stop);
    if (clockWasTrusted && !clockTrusted) events.sweepPaused("The clock jumped. Nothing is removed for 10 minutes.");
    clockWasTrusted = clockTrusted;
    events.jobDone("sweep", { ...counts, clockTrusted: clockTrusted ? 1 : 0 });
  };

  const removeRetries = async () => {
    const removed = await removeExpiredRetries(deps, stop);
    if (removed > 0) events.jobDone("claim retries", { removed });
  };

  const removeTickets = async () => {
    const removed = await removeExpiredTickets(deps, stop);
    if (removed > 0) events.jobDone("download tickets", { removed });
  };

  const endInBulk = async () => {
    const ended = await runBulkEndings(deps, stop);
    if (ended > 0) events.jobDone("bulk endings", { ended });
  };

  const removeOldFailures = async () => {
    if (clockWasTrusted) await domain.mail.removeOldFailures();
  };

  // Unconfirmed accounts are removed with their links, which must not happen because of a wrong clock.
  const removeUnusedLinks = async () =>
    clockWasTrusted ? domain.accounts.removeAbandonedLinks(abandonedLinksMax) : undefined;
  const removeOldRequests = async () => (clockWasTrusted ? domain.requests.removeOld(oldRequestsMax) : undefined);
  const removeOldLimits = async () => {
    while (!stop.aborted && (await domain.limits.removeExpired(effects.clock.now(), limitsMax)) >= limitsMax);
  };

  return {
    sweepOnce,
    removeRetries,
    removeTickets,
    endInBulk,
    removeOldFailures,
    removeUnusedLinks,
    removeOldRequests,
    removeOldLimits,
  };
}

/** Runs the background jobs. Each job runs immediately and then at its interval; its runs never overlap. */
export async function startTimetable(domain: Domain, effects: TimetableEffects, events: Events) {
  const abort = new AbortController();
  const log = createRunLog(effects);
  const heart = createHeart(domain, effects, log);
  await heart.start();

  const work = createWork(domain, effects, { events, log, stop: abort.signal });
  const repeat = (name: JobName, everyMs: number, job: () => Promise<unknown>) =>
    startJob(log.watch({ name, everyMs }, job), {
      name,
      everyMs,
      every: effects.every,
      onError(error) {
        events.jobFailed(name, error);
        log.failed(name, summarizeError(error));
      },
    });
  const jobs: readonly Job[] = [
    repeat("database clock", heartbeatMs, () => followDatabaseClock(domain.db, effects)),
    repeat("sweep", sweepEveryMs, work.sweepOnce),
    repeat("claim retries", expiredKeysEveryMs, work.removeRetries),
    repeat("download tickets", expiredKeysEveryMs, work.removeTickets),
    repeat("mail", mailEveryMs, () => domain.mail.deliverDue(abort.signal)),
    repeat("view notifications", viewNotificationsEveryMs, () => domain.notifyOfViews(abort.signal)),
    repeat("bulk endings", bulkEndingsEveryMs, work.endInBulk),
    repeat("theme", themeEveryMs, () => domain.branding.refresh()),
    repeat("failed emails", hourMs, work.removeOldFailures),
    repeat("unused links", hourMs, work.removeUnusedLinks),
    repeat("sessions", hourMs, () => domain.accounts.removeExpiredSessions(expiredSessionsMax)),
    repeat("limits", limitsEveryMs, work.removeOldLimits),
    repeat("sign-on steps", hourMs, () => domain.accounts.removeExpiredSignOnSteps(expiredStepsMax)),
    repeat("old requests", hourMs, work.removeOldRequests),
    // Last, so that its first run reports all jobs.
    repeat("heartbeat", heartbeatMs, heart.beat),
  ];
  return {
    /** Waits for running jobs; starts no more. */
    async stop(): Promise<void> {
      abort.abort();
      await Promise.all(jobs.map((job) => job.stop()));
      await domain.jobs.record(log.runs());
      await heart.stop();
    },
  };
}

/** Shows this process to others, who change no secrets while it lacks the new ones. */
function createHeart(domain: Domain, effects: TimetableEffects, log: ReturnType<typeof createRunLog>) {
  const registry = createProcessRegistry(domain.db);
  const process = { id: randomUUID(), activeKeyId: domain.keyring.ids[0] ?? "", keyIds: domain.keyring.ids };
  let seenAt = Number.NEGATIVE_INFINITY;
  const beat = async () => {
    const now = effects.clock.now();
    await registry.beat(process, now);
    // After the beat, because from now on no change is overlooked; by the time now, because the beat may have been suspended.
    if (effects.clock.now() - seenAt > unseenAfterMs) await domain.vault.assertSameSecrets();
    seenAt = now;
    await domain.jobs.record(log.runs());
  };
  const stop = () => registry.remove(process.id);
  return {
    /** @throws what `assertSameSecrets` throws. */
    async start(): Promise<void> {
      try {
        await beat();
      } catch (error) {
        if (isSecretsMissed(error)) await stop();
        throw error;
      }
    },
    async beat(): Promise<void> {
      try {
        await beat();
      } catch (error) {
        if (isSecretsMissed(error)) effects.onSecretsMissed(error);
        throw error;
      }
    },
    stop,
  };
}

function isSecretsMissed(error: unknown): error is Error {
  return error instanceof WrongMasterKeyError || error instanceof ReplacedSecretError;
}

type JobInterval = Pick<JobRun, "name" | "everyMs">;

/** What this process knows about the runs of its jobs. Kept in memory between heartbeats: many jobs run every second. */
function createRunLog({ clock, monotonicMs }: Pick<Effects, "clock" | "monotonicMs">) {
  const runByName = new Map<JobName, JobRun>();
  const failedRuns = new Set<JobName>();
  const change = (name: JobName, part: Partial<JobRun>) => {
    const run = runByName.get(name);
    if (run !== undefined) runByName.set(name, { ...run, ...part });
  };
  return {
    runs: () => [...runByName.values()],
    /** The same job, whose runs are recorded. */
    watch(interval: JobInterval, job: () => Promise<unknown>): () => Promise<void> {
      const { name } = interval;
      const never = { startedAt: null, succeededAt: null, durationMs: null, failedAt: null, failure: null };
      runByName.set(name, { ...interval, ...never });
      return async () => {
        const begun = monotonicMs();
        failedRuns.delete(name);
        change(name, { startedAt: clock.now() });
        await job();
        if (failedRuns.has(name)) return;
        change(name, { succeededAt: clock.now(), durationMs: Math.round(monotonicMs() - begun) });
      };
    },
    /** A run failed, or a part of it, which the job survives. */
    failed(name: JobName, failure: string): void {
      failedRuns.add(name);
      change(name, { failedAt: clock.now(), failure });
    },
  };
}

interface JobOptions {
  readonly name: JobName;
  readonly everyMs: number;
  readonly every: Every;
  readonly onError: (error: unknown) => void;
}

type Job = ReturnType<typeof startJob>;

function startJob(job: () => Promise<unknown>, { name, everyMs, every, onError }: JobOptions) {
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= job()
      .then(() => undefined, onError)
      .finally(() => {
        running = undefined;
      });
  };
  run();
  const cancel = every(everyMs, run);
  return {
    name,
    async stop(): Promise<void> {
      cancel();
      await running;
    },
  };
}
