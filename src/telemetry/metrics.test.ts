import { describe, expect, it, onTestFinished, vi } from "vitest";
import { seriesIn } from "../../test/support/metrics.ts";
import type { Backlog, DomainGauges } from "./domain-gauges.ts";
import { countEvents, createEvents } from "./events.ts";
import { createLogger } from "./logger.ts";
import { createMetrics, type Metrics } from "./metrics.ts";

const clock = { now: () => 1_000_000 };
const backlog: Backlog = { oldestDueAt: 970_000, blobDeletionsDue: 3, mails: { waiting: 2, failed: 1 } };

function domain(changes: Partial<DomainGauges> = {}): DomainGauges {
  return {
    engine: "postgres",
    backlog: async () => backlog,
    argon2: { waiting: 4, running: 2 },
    writes: () => ({ commits: 5, transactions: 9, conflicts: 2, waiting: 1 }),
    pool: () => ({ max: 10, open: 7, idle: 4, waiting: 6 }),
    ...changes,
  };
}

function metricsOf(gauges?: DomainGauges): Metrics {
  const metrics = createMetrics({ version: "1", clock });
  if (gauges !== undefined) metrics.watchDomain(gauges);
  return metrics;
}

const seriesOf = async (metrics: Metrics) => seriesIn((await metrics.read()).text);

describe("the gauges", () => {
  it("show the use of the pool and the lengths of all queues", async () => {
    const series = await seriesOf(metricsOf(domain()));
    const values = [
      'sealpush_database_connections{state="in_use"}',
      'sealpush_database_connections{state="idle"}',
      "sealpush_database_connections_max",
      "sealpush_database_connections_wanted",
      'sealpush_argon2_operations{state="waiting"}',
      'sealpush_argon2_operations{state="running"}',
      "sealpush_database_writes_waiting",
      "sealpush_database_commits_total",
      "sealpush_database_units_total",
      "sealpush_database_conflicts_total",
      "sealpush_sweep_lag_seconds",
      "sealpush_blob_deletions_due",
      'sealpush_mails{state="waiting"}',
      'sealpush_mails{state="failed"}',
    ].map((name) => series.get(name));
    expect(values).toEqual([3, 4, 10, 6, 4, 2, 1, 5, 9, 2, 30, 3, 2, 1]);
  });

  it("omit the pool if there is none", async () => {
    const series = await seriesOf(metricsOf(domain({ pool: () => undefined })));
    expect([...series.keys()].filter((name) => name.startsWith("sealpush_database_connections"))).toEqual([]);
  });

  it("omit values of the database if it does not answer", async () => {
    let silent = false;
    const read = async () => {
      if (silent) throw new Error("silent");
      return backlog;
    };
    const metrics = metricsOf(domain({ backlog: read }));
    expect((await seriesOf(metrics)).get("sealpush_sweep_lag_seconds")).toBe(30);
    silent = true;
    const series = await seriesOf(metrics);
    expect(series.get("sealpush_database_up")).toBe(0);
    for (const name of [
      "sealpush_sweep_lag_seconds",
      "sealpush_blob_deletions_due",
      'sealpush_mails{state="failed"}',
    ]) {
      expect([name, series.has(name)]).toEqual([name, false]);
    }
  });

  it("show no lag of a push that a clock ahead of this one has found due", async () => {
    const read = async () => ({ ...backlog, oldestDueAt: clock.now() + 1_000 });
    expect((await seriesOf(metricsOf(domain({ backlog: read })))).get("sealpush_sweep_lag_seconds")).toBe(0);
  });

  it("wait at most a second for a database that hangs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const reading = seriesOf(metricsOf(domain({ backlog: () => new Promise(() => undefined) })));
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await reading).get("sealpush_database_up")).toBe(0);
  });

  it("query the domain once for concurrent reads", async () => {
    let asked = 0;
    const read = async () => {
      asked += 1;
      return backlog;
    };
    const metrics = metricsOf(domain({ backlog: read }));
    await Promise.all([metrics.read(), metrics.read(), metrics.read()]);
    expect(asked).toBe(1);
  });
});

it("counts what a sweep has removed, with its time and whether the clock is trusted", async () => {
  const metrics = metricsOf();
  metrics.jobDone("claim retries", { removed: 5 });
  metrics.jobDone("sweep", { endedPushes: 2, clockTrusted: 1 });
  const series = await seriesOf(metrics);
  const names = ['swept_total{what="ended_pushes"}', "sweep_last_success_timestamp_seconds", "clock_trusted"];
  expect(names.map((name) => series.get(`sealpush_${name}`))).toEqual([2, 1_000, 1]);
  expect(series.has('sealpush_swept_total{what="removed"}')).toBe(false);
});

it("has no series whose labels depend on what clients have opened", async () => {
  const { text } = await metricsOf().read();
  expect(text).not.toMatch(/nodejs_active_(?:resources|handles|requests)\{/);
});

it("counts emails from 0, so that the first failure is an increase", async () => {
  const metrics = metricsOf();
  const logger = createLogger("error", { write: () => undefined });
  const events = countEvents(createEvents({ logger, clock }), metrics);
  const attempt = { id: 1, kind: "push_link", attempts: 9, code: "550" } as const;
  events.mailPutOff(attempt);
  events.mailPutOff(attempt);
  events.mailGivenUp(attempt);
  const series = await seriesOf(metrics);
  const attempts = ["sent", "put_off", "given_up"].map((outcome) =>
    series.get(`sealpush_mail_attempts_total{outcome="${outcome}"}`),
  );
  expect(attempts).toEqual([0, 2, 1]);
});
