/** One metric as prom-client gives it to be put together with those of other processes (`getMetricsAsJSON`). */
export interface MetricPart {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly PartValue[];
}

interface PartValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** In a histogram: which of its series. */
  readonly metricName?: string;
}

/** What a process gave: nothing when its metrics are off, and whatever a process of another version has to say. */
export function isMetricParts(part: unknown): part is readonly MetricPart[] {
  return Array.isArray(part) && part.every(isMetricPart);
}

function isMetricPart(part: unknown): part is MetricPart {
  return (
    typeof part === "object" &&
    part !== null &&
    "name" in part &&
    typeof part.name === "string" &&
    "type" in part &&
    "aggregator" in part &&
    "values" in part &&
    Array.isArray(part.values)
  );
}

/**
 * What processes that have ended counted goes on being counted: else each of them that goes would look like a fall of
 * every counter to a reader of their sum, which takes a fall for a new beginning.
 * @returns `counts` with the counters and histograms of `part` added.
 */
export function addDepartedCounts(counts: readonly MetricPart[], part: unknown): readonly MetricPart[] {
  if (!isMetricParts(part)) return counts;
  const sums = new Map(counts.map((metric) => [metric.name, metric]));
  for (const metric of part) {
    if (metric.type !== "counter" && metric.type !== "histogram") continue;
    const before = sums.get(metric.name);
    sums.set(metric.name, before === undefined ? metric : { ...metric, values: added(before.values, metric.values) });
  }
  return [...sums.values()];
}

function added(before: readonly PartValue[], more: readonly PartValue[]): readonly PartValue[] {
  const sums = new Map(before.map((value) => [seriesOf(value), value]));
  for (const value of more) {
    const series = seriesOf(value);
    sums.set(series, { ...value, value: value.value + (sums.get(series)?.value ?? 0) });
  }
  return [...sums.values()];
}

function seriesOf({ labels, metricName }: PartValue): string {
  return JSON.stringify([metricName, Object.entries(labels).sort()]);
}
