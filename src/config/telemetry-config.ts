import type { Config, TracingSettings } from "./config.ts";
import type { ParsedSettings } from "./read-settings.ts";
import type { SettingGroups } from "./settings.ts";

type Watching = ParsedSettings<SettingGroups>["watching"];
type Tracing = ParsedSettings<SettingGroups>["tracing"];

/** Numbers tell strangers how a domain is used: whoever opens them to everybody has to say so. */
export function metricsMistakes({ metricsEnabled, metricsToken, metricsAnonymous }: Watching): readonly string[] {
  // A token that was refused has its own sentence.
  if (!metricsEnabled.value || metricsToken.given || metricsAnonymous.value) return [];
  return [
    `${metricsEnabled.env} is on, but nothing protects /metrics: set ${metricsToken.env}, or ${metricsAnonymous.env} to let everybody read it.`,
  ];
}

/** What is set and does nothing. */
export function telemetryWarnings(watching: Watching, tracing: Tracing): readonly string[] {
  const { logRequests, logClientAddresses, metricsEnabled, metricsToken, metricsAnonymous } = watching;
  const warnings: string[] = [];
  if (logClientAddresses.value && !logRequests.value) {
    warnings.push(`${logClientAddresses.env} has no effect while ${logRequests.env} is off.`);
  }
  for (const { env, given } of [metricsToken, metricsAnonymous]) {
    if (given && !metricsEnabled.value) warnings.push(`${env} has no effect while ${metricsEnabled.env} is off.`);
  }
  if (metricsToken.given && metricsAnonymous.value) {
    warnings.push(`${metricsAnonymous.env} has no effect: with ${metricsToken.env} the token is asked for.`);
  }
  if (tracing.samplerShare.given && !tracing.sampler.value.endsWith("traceidratio")) {
    warnings.push(`${tracing.samplerShare.env} has no effect while ${tracing.sampler.env} is not traceidratio.`);
  }
  return warnings;
}

export function telemetryOf(watching: Watching, tracing: Tracing): Pick<Config, "requestLog" | "metrics" | "tracing"> {
  return {
    requestLog: watching.logRequests.value ? { addresses: watching.logClientAddresses.value } : undefined,
    metrics: watching.metricsEnabled.value ? { token: watching.metricsToken.value } : undefined,
    tracing: tracingOf(tracing),
  };
}

function tracingOf(tracing: Tracing): TracingSettings | undefined {
  const { endpoint, tracesEndpoint, sdkDisabled, exporter, sampler } = tracing;
  const url = tracesEndpoint.value ?? (endpoint.value === undefined ? undefined : tracesBelow(endpoint.value));
  if (url === undefined || sdkDisabled.value || exporter.value === "none") return undefined;
  return {
    url,
    serviceName: tracing.serviceName.value,
    resourceAttributes: tracing.resourceAttributes.value ?? {},
    sampler: sampler.value,
    samplerShare: tracing.samplerShare.value,
  };
}

/** OpenTelemetry Protocol Exporter, "Endpoint URLs for OTLP/HTTP". */
function tracesBelow(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}
