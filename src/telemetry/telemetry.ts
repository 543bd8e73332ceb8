import type { Clock } from "../base/clock.ts";
import { errorCode } from "../base/errors.ts";
import type { Config, TracingSettings } from "../config/config.ts";
import type { RequestWatch } from "./answered-request.ts";
import { countEvents, createEvents, type Events } from "./events.ts";
import { createLogger, type DestinationStream } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { createRequestLog } from "./request-log.ts";
import type { Tracing } from "./tracing.ts";

export type Telemetry = Awaited<ReturnType<typeof openTelemetry>>;

export interface TelemetryDeps {
  readonly clock: Clock;
  readonly destination: DestinationStream;
  /** Other server processes may write to the same destination. */
  readonly manyProcesses: boolean;
  readonly version: string;
}

/** Log, metrics and traces, as configured. The libraries of metrics and traces are loaded only if they are used. */
export async function openTelemetry(
  config: Pick<Config, "logLevel" | "requestLog" | "metrics" | "tracing">,
  { clock, destination, manyProcesses, version }: TelemetryDeps,
) {
  const logged = createEvents({ logger: createLogger(config.logLevel, destination), clock });
  const metrics = config.metrics && (await openMetrics(version, clock));
  const events = metrics === undefined ? logged : countEvents(logged, metrics);
  const tracing = config.tracing && (await openTracing(config.tracing, { version, clock, events }));
  const isInfoLogged = config.logLevel === "debug" || config.logLevel === "info";
  const requestLog =
    config.requestLog && isInfoLogged
      ? createRequestLog({ options: config.requestLog, manyProcesses, clock, destination })
      : undefined;
  const watch: RequestWatch = {
    ...(metrics && { count: metrics.requestAnswered }),
    ...(tracing && { trace: tracing.requestAnswered }),
    ...(requestLog && { log: requestLog.write }),
  };
  return {
    events,
    watch,
    /** undefined: off. */
    metrics,
    /** Writes and sends what is buffered. */
    async close(): Promise<void> {
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
    if (errorCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    // The endpoint may be set for every program on this machine, and the server works without traces.
    events.settingWarning(
      "No traces are sent: OpenTelemetry's packages are missing. Install them with `npm install --no-save " +
        "@opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-trace-base @opentelemetry/exporter-trace-otlp-http`, " +
        "or set OTEL_SDK_DISABLED=true.",
    );
    return undefined;
  }
}
