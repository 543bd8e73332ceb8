import { Counter, Histogram, type Registry } from "prom-client";
import type { AnsweredRequest } from "./answered-request.ts";

/** From a read of one row to an upload; seconds. */
const bucketSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const msPerSecond = 1_000;

interface Series {
  readonly duration: Histogram.Internal<string>;
  readonly byStatus: Map<number, Counter.Internal>;
}

/**
 * @returns counts one. Its labels come from the routes, a few methods and our own statuses, so there are as many series
 * as we have made, whoever asks for what. They are looked up once each.
 */
export function countRequests(registry: Registry): (request: AnsweredRequest) => void {
  const registers = [registry];
  const requests = new Counter({
    name: "sealpush_http_requests_total",
    help: "Requests answered, by method, pattern of the route and status.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "sealpush_http_request_duration_seconds",
    help: "From the first look at a request to the end of its answer.",
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
