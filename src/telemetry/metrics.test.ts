import { describe, expect, it, onTestFinished, vi } from "vitest";
import { seriesIn } from "../../test/support/metrics.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import type { Backlog, DomainGauges } from "./domain-gauges.ts";
import { addCounts, type MetricSnapshot } from "./ended-counts.ts";
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

const answered: AnsweredRequest = {
  requestId: "00ff",
  method: "GET",
  route: "/up",
  status: 200,
  durationMs: 4,
  https: false,
  address: "192.0.2.1",
  caller: undefined,
};

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

describe("several processes", () => {
  /** Metrics pass through JSON, as between processes. */
  function workersOf(count: number) {
    const readers: (() => Promise<unknown>)[] = [];
    const endedCounts: unknown[] = [];
    const collectMetrics = async () =>
      JSON.parse(JSON.stringify([...(await Promise.all(readers.map((read) => read()))), ...endedCounts])) as unknown[];
    const members = Array.from({ length: count }, () => {
      const metrics = metricsOf(domain());
      metrics.joinWorkers({ collectMetrics, provideMetrics: (read) => readers.push(read) });
      return metrics;
    });
    return { members, readers, endedCounts };
  }

  it("each show the sum of their counts, and the database once", async () => {
    const { members } = workersOf(3);
    for (const [at, metrics] of members.entries()) {
      for (let n = 0; n <= at; n += 1) metrics.requestAnswered(answered);
      metrics.claimed("revealed");
    }
    for (const metrics of members) {
      const series = await seriesOf(metrics);
      expect(series.get('sealpush_http_requests_total{method="GET",route="/up",status="200"}')).toBe(6);
      const bucket = 'sealpush_http_request_duration_seconds_bucket{le="0.005",method="GET",route="/up"}';
      expect(series.get(bucket)).toBe(6);
      expect(series.get('sealpush_claims_total{outcome="revealed"}')).toBe(3);
      expect(series.get('sealpush_argon2_operations{state="waiting"}')).toBe(12);
      expect(series.get('sealpush_mails{state="waiting"}')).toBe(2);
      expect(series.get("sealpush_sweep_lag_seconds")).toBe(30);
      expect(series.get('sealpush_build_info{version="1",engine="postgres"}')).toBe(1);
    }
  });

  it("keep the counts of one that has ended", async () => {
    const { members, readers, endedCounts } = workersOf(2);
    for (const metrics of members) metrics.requestAnswered(answered);
    const left = await readers.shift()?.();
    endedCounts.push(addCounts([], JSON.parse(JSON.stringify(left))));
    const series = await seriesOf(members[1] ?? metricsOf());
    expect(series.get('sealpush_http_requests_total{method="GET",route="/up",status="200"}')).toBe(2);
    expect(series.get('sealpush_http_request_duration_seconds_count{method="GET",route="/up"}')).toBe(2);
    expect(series.get('sealpush_argon2_operations{state="waiting"}')).toBe(4);
  });

  it("show their own metrics without a primary", async () => {
    const metrics = metricsOf(domain());
    metrics.joinWorkers({ collectMetrics: async () => [], provideMetrics: () => undefined });
    metrics.requestAnswered(answered);
    const series = await seriesOf(metrics);
    expect(series.get('sealpush_http_requests_total{method="GET",route="/up",status="200"}')).toBe(1);
  });

  it("ignore metrics of an unknown form", async () => {
    expect(addCounts([], null)).toEqual([]);
    const counter: MetricSnapshot = { name: "a", help: "", type: "counter", aggregator: "sum", values: [] };
    expect(addCounts([counter], [{ name: 1 }])).toEqual([counter]);
    const once = [{ ...counter, values: [{ value: 2, labels: { x: "1" } }] }];
    expect(addCounts(addCounts([], once), once)).toEqual([{ ...counter, values: [{ value: 4, labels: { x: "1" } }] }]);
  });
});
