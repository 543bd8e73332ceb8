import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "prom-client";
import type { Clock } from "../base/clock.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import { countHappenings, type Happenings } from "./count-happenings.ts";
import { countRequests } from "./count-requests.ts";
import { isMetricParts } from "./departed-counts.ts";
import { type DomainGauges, gaugeDomain } from "./gauge-domain.ts";

export interface Metrics extends Happenings {
  requestAnswered(request: AnsweredRequest): void;
  /** From now on, reading the metrics asks the domain too. To be called once. */
  watchDomain(domain: DomainGauges): void;
  /** From now on, this process reads the metrics of all. To be called once. */
  join(company: MetricsCompany): void;
  /** In Prometheus' text format. Who asks while it is being put together gets the same. */
  read(): Promise<MetricsText>;
}

/** How processes that serve together tell each other of theirs (workers/worker-link.ts). */
export interface MetricsCompany {
  givePart(part: () => Promise<unknown>): void;
  gather(): Promise<readonly unknown[]>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** Of this process. What is counted is told to it; what can be asked for is asked when it is read. */
export function createMetrics({ version, clock }: { readonly version: string; readonly clock: Clock }): Metrics {
  const registry = new Registry();
  collectProcessMetrics(registry);
  let refresh: () => Promise<void> = async () => undefined;
  let reading: Promise<string> | undefined;
  let company: MetricsCompany | undefined;
  const ownPart = async () => {
    await refresh();
    return await registry.getMetricsAsJSON();
  };
  const readOnce = async () => {
    const parts = (await company?.gather())?.filter(isGathered) ?? [];
    if (parts.length > 0) return await AggregatorRegistry.aggregate(parts).metrics();
    // Alone, or left alone.
    await refresh();
    return await registry.metrics();
  };
  return {
    ...countHappenings(registry, clock),
    requestAnswered: countRequests(registry),
    watchDomain(domain) {
      refresh = gaugeDomain(registry, { version, clock, domain });
    },
    join(others) {
      company = others;
      others.givePart(ownPart);
    },
    async read() {
      reading ??= readOnce().finally(() => {
        reading = undefined;
      });
      return { contentType: registry.contentType, text: await reading };
    },
  };
}

/** Labels that come and go with what happens to be open, or with connections that strangers open. */
const shiftingMetrics = ["nodejs_active_resources", "nodejs_active_handles", "nodejs_active_requests"];
const collections = ["minor", "major", "incremental", "weakcb"];

/** CPU, memory, event loop delay, garbage collection: as other Node programs name them. */
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of shiftingMetrics) registry.removeSingleMetric(name);
  const pauses = registry.getSingleMetric("nodejs_gc_duration_seconds");
  if (pauses instanceof Histogram) for (const kind of collections) pauses.zero({ kind });
}

type Gathered = MetricObjectWithValues<MetricValue<string>>[];

/** Its values are as the library of another process of ours wrote them. */
function isGathered(part: unknown): part is Gathered {
  return isMetricParts(part);
}
