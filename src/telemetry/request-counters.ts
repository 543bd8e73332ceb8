import { Counter, Histogram, type Registry } from "prom-client";
import type { AnsweredRequest } from "./answered-request.ts";

/** Seconds; from a read of one row to an upload. */
const bucketSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const msPerSecond = 1_000;

interface Series {
  readonly duration: Histogram.Internal<string>;
  readonly byStatus: Map<number, Counter.Internal>;
}

/**
 * @returns a function that counts one request. The labels are route patterns, a few methods and statuses, so clients
 * cannot create series. Each series is looked up once.
 */
export function createRequestCounters(registry: Registry): (request: AnsweredRequest) => void {
  const registers = [registry];
  const requests = new Counter({
    name: "sealpush_http_requests_total",
    help: "Answered requests, by method, route pattern and status.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "sealpush_http_request_duration_seconds",
    help: "Time from the start of a request to the end of its answer.",
    labelNames: ["method", "route"],
    buckets: bucketSeconds,
    registers,
  });
  const routes = new Map<string, Map<string, Series>>();

  const seriesOf = (method: string, route: string): Series => {
    const methods = routes.get(route) ?? new Map<string, Series>();
    routes.set(route, methods);
    const known = methods.get(method);
    if (known !== undefined) return known;
    const series = { duration: durations.labels(method, route), byStatus: new Map<number, Counter.Internal>() };
    methods.set(method, series);
    return series;
  };

  return ({ method, route, status, durationMs }) => {
    const { duration, byStatus } = seriesOf(method, route);
    const known = byStatus.get(status);
    const counter = known ?? requests.labels(method, route, String(status));
    if (known === undefined) byStatus.set(status, counter);
    counter.inc();
    duration.observe(durationMs / msPerSecond);
  };
}
