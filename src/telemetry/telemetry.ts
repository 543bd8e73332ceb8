import type { Clock } from "../base/clock.ts";
import type { Config, TracingSettings } from "../config/config.ts";
import type { RequestWatch } from "./answered-request.ts";
import { createEvents, type Events } from "./events.ts";
import { createLogger, type DestinationStream } from "./logger.ts";
import { meterEvents } from "./meter-events.ts";
import type { Metrics } from "./metrics.ts";
import { createRequestLog } from "./request-log.ts";
import type { Tracing } from "./tracing.ts";

/** What the server tells of itself, in the ways that are switched on. */
export interface Telemetry {
  readonly events: Events;
  readonly watch: RequestWatch;
  /** undefined: off. */
  readonly metrics: Metrics | undefined;
  /** Writes and sends what waits. */
  close(): Promise<void>;
}

export interface TelemetryDeps {
  readonly clock: Clock;
  readonly destination: DestinationStream;
  readonly version: string;
  /** Of this process, if it is one of several. */
  readonly worker: number | undefined;
}

/** The libraries of metrics and traces are loaded where they are set: nobody else pays for them. */
export async function openTelemetry(
  config: Pick<Config, "logLevel" | "requestLog" | "metrics" | "tracing">,
  { clock, destination, version, worker }: TelemetryDeps,
): Promise<Telemetry> {
  const said = createEvents({ logger: createLogger(config.logLevel, destination, worker), clock });
  const metrics = config.metrics && (await openMetrics(version, clock));
  const events = metrics === undefined ? said : meterEvents(said, metrics);
  const tracing = config.tracing && (await openTracing(config.tracing, { version, clock, events }));
  const linesAreWanted = config.logLevel === "debug" || config.logLevel === "info";
  const requestLog =
    config.requestLog && linesAreWanted
      ? createRequestLog({ options: { ...config.requestLog, worker }, clock, destination })
      : undefined;
  return {
    events,
    metrics,
    watch: {
      ...(metrics && { count: metrics.requestAnswered }),
      ...(tracing && { trace: tracing.requestAnswered }),
      ...(requestLog && { log: requestLog.write }),
    },
    async close() {
      requestLog?.flush();
      await tracing?.close();
    },
  };
}

async function openMetrics(version: string, clock: Clock): Promise<Metrics> {
  const { createMetrics } = await import("./metrics.ts");
  return createMetrics({ version, clock });
}

async function openTracing(
  settings: TracingSettings,
  deps: { readonly version: string; readonly clock: Clock; readonly events: Events },
): Promise<Tracing | undefined> {
  const { version, clock, events } = deps;
  try {
    const { createTracing } = await import("./tracing.ts");
    return createTracing({ settings, version, clock, onNotSent: events.tracesNotSent });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    // The endpoint may have been set for everything on this machine: what a server is for does not depend on it.
    events.settingWarning(
      "No traces are sent: OpenTelemetry's packages are missing. Install them with `npm install --no-save " +
        "@opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-trace-base @opentelemetry/exporter-trace-otlp-http`, " +
        "or set OTEL_SDK_DISABLED=true.",
    );
    return undefined;
  }
}
