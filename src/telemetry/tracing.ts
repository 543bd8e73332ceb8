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
import { withinMs } from "../base/within.ts";
import type { TracingSettings } from "../config/config.ts";
import { type AnsweredRequest, type TraceParent, unmatchedRoute } from "./answered-request.ts";

export type Tracing = ReturnType<typeof createTracing>;

export interface TracingDeps {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly clock: Clock;
  /** The collector rejected a batch; its spans are lost. */
  readonly onNotSent: (error: unknown) => void;
}

/** The server must stop even if the collector does not answer. */
const closingMsMax = 3_000;

/**
 * Creates one span per answered request: its route and status are known then, and a request that is not sampled costs
 * almost nothing. The library limits queue and batches (OTEL_BSP_*). Nothing is registered globally.
 */
export function createTracing({ settings, version, clock, onNotSent }: TracingDeps) {
  const exporter = withFailureReports(new OTLPTraceExporter({ url: settings.url }), onNotSent);
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
    /** @returns the id of its trace; undefined: it was not sampled. */
    requestAnswered(request: AnsweredRequest): string | undefined {
      const endedAt = clock.now();
      const options = {
        kind: SpanKind.SERVER,
        startTime: endedAt - request.durationMs,
        attributes: attributesOf(request),
      };
      const span = tracer.startSpan(nameOf(request), options, contextOf(request.caller));
      if (request.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endedAt);
      const { traceId, traceFlags } = span.spanContext();
      return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : traceId;
    },
    /** Sends buffered spans, if the collector accepts them within a few seconds. */
    async close(): Promise<void> {
      await withinMs(closingMsMax, provider.shutdown().catch(onNotSent), () => undefined);
    },
  };
}

/** OpenTelemetry's semantic conventions for HTTP: the method, and the route where there is one. */
function nameOf({ method, route }: AnsweredRequest): string {
  const verb = method === "other" ? "HTTP" : method;
  return route === unmatchedRoute ? verb : `${verb} ${route}`;
}

/** Never the URL, query, user agent or client address: they contain links and personal data. */
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

function contextOf(caller: TraceParent | undefined): Context {
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

/** The library does not report failures. */
function withFailureReports(exporter: SpanExporter, onNotSent: (error: unknown) => void): SpanExporter {
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
