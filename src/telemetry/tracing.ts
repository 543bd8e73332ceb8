import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Clock } from "../base/clock.ts";
import type { TracingSettings } from "../config/config.ts";
import { type AnsweredRequest, type TraceParent, unmatchedRoute } from "./answered-request.ts";

export interface Tracing {
  /** @returns the id of its trace; undefined: it was not sampled. */
  requestAnswered(request: AnsweredRequest): string | undefined;
  /** Sends what waits, if the collector takes it within a few seconds. */
  close(): Promise<void>;
}

export interface TracingDeps {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly clock: Clock;
  /** The collector did not take a batch; its spans are lost. */
  readonly onNotSent: (error: unknown) => void;
}

/** The server must come to its end though the collector does not answer. */
const closingMsMax = 3_000;

/**
 * One span for each request, made when it has been answered: then its route and status are known, and one that is not
 * sampled costs next to nothing. Queue and batches are bounded by the library (OTEL_BSP_*). Nothing is registered
 * globally.
 */
export function createTracing({ settings, version, clock, onNotSent }: TracingDeps): Tracing {
  const exporter = telling(new OTLPTraceExporter({ url: settings.url }), onNotSent);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": settings.serviceName,
      "service.version": version,
      ...settings.resourceAttributes,
    }),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer("sealpush", version);
  return {
    requestAnswered(request) {
      const endedAt = clock.now();
      const options = {
        kind: SpanKind.SERVER,
        startTime: endedAt - request.durationMs,
        attributes: attributesOf(request),
      };
      const span = tracer.startSpan(nameOf(request), options, below(request.caller));
      if (request.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endedAt);
      const { traceId, traceFlags } = span.spanContext();
      return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : traceId;
    },
    async close() {
      const timeUp = Promise.withResolvers<void>();
      const timer = setTimeout(timeUp.resolve, closingMsMax);
      await Promise.race([provider.shutdown().catch(onNotSent), timeUp.promise]);
      clearTimeout(timer);
    },
  };
}

/** OpenTelemetry's semantic conventions for HTTP: the method, and the route where there is one. */
function nameOf({ method, route }: AnsweredRequest): string {
  const verb = method === "other" ? "HTTP" : method;
  return route === unmatchedRoute ? verb : `${verb} ${route}`;
}

/** Never the address that was asked for, its query, the user agent or where it came from: they hold links and people. */
function attributesOf({ requestId, method, route, status, https }: AnsweredRequest): Attributes {
  return {
    "http.request.method": method === "other" ? "_OTHER" : method,
    ...(route === unmatchedRoute ? {} : { "http.route": route }),
    "http.response.status_code": status,
    "url.scheme": https ? "https" : "http",
    "sealpush.request_id": requestId,
    ...(status >= 500 ? { "error.type": String(status) } : {}),
  };
}

function below(caller: TraceParent | undefined): Context {
  if (caller === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = caller;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & TraceFlags.SAMPLED,
    isRemote: true,
  });
}

function samplerOf({ sampler, samplerRatio }: TracingSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(samplerRatio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(samplerRatio) });
  }
}

/** The library keeps a failure to itself. */
function telling(exporter: SpanExporter, onNotSent: (error: unknown) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error !== undefined) onNotSent(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}
