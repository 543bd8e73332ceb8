/** One metric in prom-client's form for aggregation over processes (`getMetricsAsJSON`). */
export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly SnapshotValue[];
}

interface SnapshotValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** In a histogram: the name of the series. */
  readonly metricName?: string;
}

/** False for a worker whose metrics are off, and possibly for one of another version. */
export function isMetricSnapshots(metrics: unknown): metrics is readonly MetricSnapshot[] {
  return Array.isArray(metrics) && metrics.every(isMetricSnapshot);
}

function isMetricSnapshot(metric: unknown): metric is MetricSnapshot {
  return (
    typeof metric === "object" &&
    metric !== null &&
    "name" in metric &&
    typeof metric.name === "string" &&
    "type" in metric &&
    "aggregator" in metric &&
    "values" in metric &&
    Array.isArray(metric.values)
  );
}

/**
 * Keeps the counts of workers that have ended. Without them every counter would drop when a worker ends, and Prometheus
 * takes a drop for a restart.
 * @returns `counts` with the counters and histograms of `metrics` added.
 */
export function addCounts(counts: readonly MetricSnapshot[], metrics: unknown): readonly MetricSnapshot[] {
  if (!isMetricSnapshots(metrics)) return counts;
  const sums = new Map(counts.map((metric) => [metric.name, metric]));
  for (const metric of metrics) {
    if (metric.type !== "counter" && metric.type !== "histogram") continue;
    const before = sums.get(metric.name);
    sums.set(metric.name, before === undefined ? metric : { ...metric, values: added(before.values, metric.values) });
  }
  return [...sums.values()];
}

function added(before: readonly SnapshotValue[], more: readonly SnapshotValue[]): readonly SnapshotValue[] {
  const sums = new Map(before.map((value) => [seriesOf(value), value]));
  for (const value of more) {
    const series = seriesOf(value);
    sums.set(series, { ...value, value: value.value + (sums.get(series)?.value ?? 0) });
  }
  return [...sums.values()];
}

function seriesOf({ labels, metricName }: SnapshotValue): string {
  return JSON.stringify([metricName, Object.entries(labels).sort()]);
}
