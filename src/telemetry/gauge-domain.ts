import { Counter, Gauge, type Registry } from "prom-client";
import { type Clock, secondMs } from "../base/clock.ts";

/** What can be asked of the domain at any time. All processes on one database get the same backlog. */
export interface DomainGauges {
  readonly engine: string;
  /** Reads the database; rejects when that does not answer. */
  readonly backlog: () => Promise<Backlog>;
  readonly argon2: { readonly waiting: number; readonly running: number };
  readonly writes: () => Writes;
  /** undefined: the engine has no pool. */
  readonly pool: () => Pool | undefined;
}

export interface Backlog {
  /** When the push should have ended that waits longest for the sweeper; undefined: none waits. */
  readonly oldestDueAt: number | undefined;
  /** Stored files whose deletion is due, as far as they are counted. */
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

/** Scrapers and other processes wait for the answer, and not for long. */
const silentMs = 1_000;

/** @returns asks the domain and sets the gauges; it never rejects, for a server in trouble is the one to read. */
export function gaugeDomain(registry: Registry, { version, clock, domain }: GaugeDeps): () => Promise<void> {
  const registers = [registry];
  new Gauge({
    name: "sealpush_build_info",
    help: "1; the labels say which version this is and what it keeps its rows in.",
    labelNames: ["version", "engine"],
    aggregator: "first",
    registers,
  }).set({ version, engine: domain.engine }, 1);
  const setQueues = gaugeQueues(registry, domain);
  const setBacklog = gaugeBacklog(registry, clock);
  const answers = new Gauge({
    name: "sealpush_database_up",
    help: "Whether the database answered when this was read.",
    aggregator: "min",
    registers,
  });
  return async () => {
    setQueues();
    const backlog = await inTime(domain.backlog());
    answers.set(backlog === undefined ? 0 : 1);
    setBacklog(backlog);
  };
}

/** @returns undefined when it fails or takes too long. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, silentMs);
  const found = await Promise.race([answer.catch(() => undefined), late.promise]);
  clearTimeout(timer);
  return found;
}

/** Of this process alone. */
function gaugeQueues(registry: Registry, { argon2, writes, pool }: DomainGauges): () => void {
  const registers = [registry];
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });
  const hashing = gauge("sealpush_argon2_operations", "Passphrases and passwords in work, and those that wait.", [
    "state",
  ]);
  const writesWaiting = gauge("sealpush_database_writes_waiting", "Units of writing that wait for a commit.");
  const commits = new Counter({ name: "sealpush_database_commits_total", help: "Commits.", registers });
  const units = new Counter({
    name: "sealpush_database_units_total",
    help: "Units of writing that were committed; several may share a commit.",
    registers,
  });
  const conflicts = new Counter({
    name: "sealpush_database_conflicts_total",
    help: "Units of writing that began anew because another one was in their way.",
    registers,
  });
  const connections = gauge("sealpush_database_connections", "Connections of the pool.", ["state"]);
  const connectionsMax = gauge("sealpush_database_connections_max", "How many connections the pool may have.");
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

/** Of the database, so that every process tells the same: among several, the largest is the latest. */
function gaugeBacklog(registry: Registry, clock: Clock): (backlog: Backlog | undefined) => void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], aggregator: "max", registers: [registry] });
  const lag = gauge(
    "sealpush_sweep_lag_seconds",
    "How long the push has been over that waits longest for the sweeper.",
  );
  const blobs = gauge("sealpush_blob_deletions_due", "Stored files to delete now; more than 10000 are not counted.");
  const mails = gauge("sealpush_mails", "Mails in the outbox: those that wait, and those that were given up.", [
    "state",
  ]);
  return (backlog) => {
    if (backlog === undefined) {
      // What was read last would look like what is.
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
