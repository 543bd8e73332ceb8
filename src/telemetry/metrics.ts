import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import { createDomainCounters } from "./domain-counters.ts";
import { createDomainGauges, type DomainGauges } from "./domain-gauges.ts";
import { createRequestCounters } from "./request-counters.ts";

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of this process. Counters are updated as things happen, gauges when the metrics are read. */
export function createMetrics({ version, clock }: { readonly version: string; readonly clock: Clock }) {
  const registry = new Registry();
  collectProcessMetrics(registry);
  let refresh: () => Promise<void> = async () => undefined;
  let reading: Promise<string> | undefined;
  const readOnce = async () => {
    await refresh();
    return await registry.metrics();
  };
  return {
    ...createDomainCounters(registry, clock),
    requestAnswered: createRequestCounters(registry),
    /** From now on, the metrics contain those of the domain. To be called once. */
    watchDomain(domain: DomainGauges): void {
      refresh = createDomainGauges(registry, { version, clock, domain });
    },
    /** In Prometheus' text format. Concurrent calls share one result. */
    async read() {
      reading ??= readOnce().finally(() => {
        reading = undefined;
      });
      return { contentType: registry.contentType, text: await reading };
    },
  };
}

/** Metrics whose labels depend on what is open at the moment, such as connections of clients. */
const unstableMetrics = ["nodejs_active_resources", "nodejs_active_handles", "nodejs_active_requests"];
const collections = ["minor", "major", "incremental", "weakcb"];

/** CPU, memory, event loop delay, garbage collection: under the names that are usual for Node. */
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of unstableMetrics) registry.removeSingleMetric(name);
  const pauses = registry.getSingleMetric("nodejs_gc_duration_seconds");
  if (pauses instanceof Histogram) for (const kind of collections) pauses.zero({ kind });
}
