import type { Counter, Registry } from "prom-client";
import { type Clock, secondMs } from "../base/clock.ts";
import { withinMs } from "../base/within.ts";
import { metricsIn } from "./registered-metrics.ts";

/** The state of the domain. All processes on one database see the same backlog. */
export interface DomainGauges {
  readonly engine: string;
  /** Reads the database; rejects if that fails. */
  readonly backlog: () => Promise<Backlog>;
  readonly argon2: { readonly waiting: number; readonly running: number };
  readonly writes: () => Writes;
  /** undefined: the engine has no pool. */
  readonly pool: () => Pool | undefined;
}

export interface Backlog {
  /** The earliest due time of the pushes that wait for the sweeper; undefined: none waits. */
  readonly oldestDueAt: number | undefined;
  /** Stored files whose deletion is due, up to a maximum. */
  readonly blobDeletionsDue: number;
  readonly mails: { readonly waiting: number; readonly failed: number };
}

interface Writes {
  readonly commits: number;
  readonly transactions: number;
  readonly conflicts: number;
  readonly waiting: number;
}

interface Pool {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

interface GaugeDeps {
  readonly version: string;
  readonly clock: Clock;
  readonly domain: DomainGauges;
}

/** Prometheus and other processes wait for the answer only for a short time. */
const answerMsMax = 1_000;

/** @returns a function that sets the gauges. It never rejects: the metrics of a failing server are needed most. */
export function createDomainGauges(registry: Registry, { version, clock, domain }: GaugeDeps): () => Promise<void> {
  const { gauge } = metricsIn(registry);
  gauge("sealpush_build_info", "1; the labels are the version and the database engine.", ["version", "engine"]).set(
    { version, engine: domain.engine },
    1,
  );
  const setQueues = createQueueGauges(registry, domain);
  const setBacklog = createBacklogGauges(registry, clock);
  const answers = gauge("sealpush_database_up", "Whether the database answered during this read.");
  return async () => {
    setQueues();
    const nothing = () => undefined;
    const backlog = await withinMs(answerMsMax, domain.backlog().catch(nothing), nothing);
    answers.set(backlog === undefined ? 0 : 1);
    setBacklog(backlog);
  };
}

/** The gauges of this process alone. */
function createQueueGauges(registry: Registry, { argon2, writes, pool }: DomainGauges): () => void {
  const { counter, gauge } = metricsIn(registry);
  const hashing = gauge(
    "sealpush_argon2_operations",
    "Passphrases and passwords that are being hashed, and those that wait.",
    ["state"],
  );
  const writesWaiting = gauge("sealpush_database_writes_waiting", "Write units that wait for a commit.");
  const commits = counter("sealpush_database_commits_total", "Commits.");
  const units = counter("sealpush_database_units_total", "Committed write units; several may share a commit.");
  const conflicts = counter(
    "sealpush_database_conflicts_total",
    "Write units that were retried because of a conflict with another one.",
  );
  const connections = gauge("sealpush_database_connections", "Connections of the pool.", ["state"]);
  const connectionsMax = gauge("sealpush_database_connections_max", "The most connections the pool may have.");
  const connectionsWanted = gauge("sealpush_database_connections_wanted", "Requests that wait for a connection.");
  return () => {
    hashing.set({ state: "running" }, argon2.running);
    hashing.set({ state: "waiting" }, argon2.waiting);
    const written = writes();
    writesWaiting.set(written.waiting);
    setCounter(commits, written.commits);
    setCounter(units, written.transactions);
    setCounter(conflicts, written.conflicts);
    const use = pool();
    if (use === undefined) {
      for (const absent of [connectionsMax, connectionsWanted]) absent.remove();
      return;
    }
    connections.set({ state: "in_use" }, use.open - use.idle);
    connections.set({ state: "idle" }, use.idle);
    connectionsMax.set(use.max);
    connectionsWanted.set(use.waiting);
  };
}

/** The gauges of the database, equal in every process. */
function createBacklogGauges(registry: Registry, clock: Clock): (backlog: Backlog | undefined) => void {
  const { gauge } = metricsIn(registry);
  const lag = gauge("sealpush_sweep_lag_seconds", "How long ago the oldest push that waits for the sweeper expired.");
  const blobs = gauge("sealpush_blob_deletions_due", "Stored files whose deletion is due; at most 10000 are counted.");
  const mails = gauge("sealpush_mails", "Emails in the outbox: those that wait, and those that were given up.", [
    "state",
  ]);
  return (backlog) => {
    if (backlog === undefined) {
      // The previous values would look current.
      for (const unknown of [lag, blobs]) unknown.remove();
      mails.reset();
      return;
    }
    const { oldestDueAt } = backlog;
    lag.set(oldestDueAt === undefined ? 0 : Math.max(0, clock.now() - oldestDueAt) / secondMs);
    blobs.set(backlog.blobDeletionsDue);
    mails.set({ state: "waiting" }, backlog.mails.waiting);
    mails.set({ state: "failed" }, backlog.mails.failed);
  };
}

function setCounter(counter: Counter, value: number): void {
  counter.reset();
  counter.inc(value);
}
