import { collectDefaultMetrics, Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import { countHappenings, type Happenings } from "./count-happenings.ts";
import { countRequests } from "./count-requests.ts";
import { gaugeHouse, type HouseGauges } from "./gauge-house.ts";

export interface Metrics extends Happenings {
  requestAnswered(request: AnsweredRequest): void;
  /** From now on, reading the metrics asks the house too. To be called once. */
  watchHouse(house: HouseGauges): void;
  /** In Prometheus' text format. Who asks while it is being put together gets the same. */
  read(): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** Of this process. What is counted is told to it; what can be asked for is asked when it is read. */
export function createMetrics({ version, clock }: { readonly version: string; readonly clock: Clock }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let refresh: () => Promise<void> = async () => undefined;
  let reading: Promise<string> | undefined;
  const readOnce = async () => {
    await refresh();
    return await registry.metrics();
  };
  return {
    ...countHappenings(registry, clock),
    requestAnswered: countRequests(registry),
    watchHouse(house) {
      refresh = gaugeHouse(registry, { version, clock, house });
    },
    async read() {
      reading ??= readOnce().finally(() => {
        reading = undefined;
      });
      return { contentType: registry.contentType, text: await reading };
    },
  };
}
