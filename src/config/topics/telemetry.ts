import { percentDecoded } from "../../base/percent-decoded.ts";
import { optionalSetting, type ParsedGroup, type SettingReport, setting, switchSetting, valuesOf } from "../setting.ts";
import { accepted, anyText, oneOf, type Parsed, rejected, textThat, type ValueType } from "../value-types.ts";

const tokenCharacters = { min: 16, max: 256 } as const;
const attributesMax = 64;

/** RFC 6750: the characters allowed after `Bearer`. Long enough that it cannot be guessed. */
const accessToken = textThat(
  `${tokenCharacters.min} to ${tokenCharacters.max} letters, digits or any of - . _ ~ + / =`,
  (text) =>
    /^[A-Za-z0-9._~+/-]+=*$/.test(text) && text.length >= tokenCharacters.min && text.length <= tokenCharacters.max,
);

const collectorUrl = textThat("an http or https address, such as http://127.0.0.1:4318", (text) => {
  const url = /^https?:\/\/[^\s\p{Cc}\\]+$/iu.test(text) ? URL.parse(text) : null;
  return url?.hash === "";
});

/** Both bounds are included. */
const ratio: ValueType<number> = {
  allowed: "a number from 0 to 1",
  parse(text) {
    const value = /^\d*\.?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= 0 && value <= 1 ? accepted(value) : rejected;
  },
};

/** OpenTelemetry's resource specification: as in W3C Baggage, values percent-encoded. */
const attributePairs: ValueType<Readonly<Record<string, string>>> = {
  allowed: `name=value pairs separated by commas, at most ${attributesMax}`,
  parse(text): Parsed<Readonly<Record<string, string>>> {
    const pairs = text.split(",").map((pair) => /^\s*([^\s=,]+)\s*=([^=]*)$/.exec(pair));
    if (pairs.length > attributesMax) return rejected;
    const attributes = new Map<string, string>();
    for (const pair of pairs) {
      const [, name, encoded] = pair ?? [];
      const value = encoded === undefined ? undefined : percentDecoded(encoded.trim());
      if (name === undefined || value === undefined) return rejected;
      attributes.set(name, value);
    }
    return accepted(Object.fromEntries(attributes));
  },
};

export const monitoringSettings = {
  title: "Request log and metrics",
  intro: "What the server reports to its operator. Neither contains links, tokens or secrets.",
  settings: {
    logRequests: switchSetting({
      env: "PWP__LOG_REQUESTS",
      doc: "Whether each request is logged once it is answered: one line with request id, method, route pattern, status and duration.",
      default: "true",
    }),
    logClientAddresses: switchSetting({
      env: "PWP__LOG_CLIENT_ADDRESSES",
      doc: "Whether these lines contain the client's address. An address is personal data: inform your users, and delete old logs.",
      default: "false",
    }),
    metricsEnabled: switchSetting({
      env: "PWP__METRICS__ENABLED",
      doc: "Whether `/metrics` provides metrics for Prometheus. When off, that address answers 404.",
      default: "false",
    }),
    metricsToken: optionalSetting({
      env: "PWP__METRICS__TOKEN",
      doc: "The token that requests to `/metrics` must send, as `Authorization: Bearer <token>`.",
      type: accessToken,
      unset: "none; metrics then require the setting below",
      hidden: "always",
    }),
    metricsAnonymous: switchSetting({
      env: "PWP__METRICS__ALLOW_ANONYMOUS",
      doc: "Whether `/metrics` answers without a token, if none is set. Use it only where nobody else can reach that address.",
      default: "false",
    }),
  },
};

export const tracingSettings = {
  title: "Traces",
  intro:
    "OpenTelemetry's own settings: with an endpoint, one span per request is sent to it by OTLP over HTTP, as JSON. The packages are not part of the installation: see [operations](operations.md#traces). OpenTelemetry's other settings (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_BSP_*` and so on) are read by these packages themselves.",
  settings: {
    endpoint: optionalSetting({
      env: "OTEL_EXPORTER_OTLP_ENDPOINT",
      doc: "The collector's address; `/v1/traces` is added to it.",
      type: collectorUrl,
      unset: "no traces",
      hidden: "when_rejected",
    }),
    tracesEndpoint: optionalSetting({
      env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
      doc: "The whole address for traces, instead of the one above.",
      type: collectorUrl,
      unset: "derived from the one above",
      hidden: "when_rejected",
    }),
    sdkDisabled: switchSetting({
      env: "OTEL_SDK_DISABLED",
      doc: "Whether no traces are sent, whatever else is set.",
      default: "false",
    }),
    exporter: setting({
      env: "OTEL_TRACES_EXPORTER",
      doc: "The exporter; `none` sends no traces.",
      type: oneOf({ otlp: "otlp", none: "none" }),
      default: "otlp",
    }),
    protocol: setting({
      env: "OTEL_EXPORTER_OTLP_PROTOCOL",
      doc: "JSON is sent in either case: collectors accept both at one address.",
      type: oneOf({ "http/json": "http/json", "http/protobuf": "http/json" }),
      default: "http/json",
    }),
    serviceName: setting({
      env: "OTEL_SERVICE_NAME",
      doc: "The name of this server in traces.",
      type: anyText("a name"),
      default: "sealpush",
    }),
    resourceAttributes: optionalSetting({
      env: "OTEL_RESOURCE_ATTRIBUTES",
      doc: "Further attributes of this server in traces.",
      type: attributePairs,
      unset: "none",
      whenUnset: {},
    }),
    sampler: setting({
      env: "OTEL_TRACES_SAMPLER",
      doc: "Which requests become spans. With `parentbased_`, a trusted proxy that sends `traceparent` decides first.",
      type: oneOf({
        always_on: "always_on",
        always_off: "always_off",
        traceidratio: "traceidratio",
        parentbased_always_on: "parentbased_always_on",
        parentbased_always_off: "parentbased_always_off",
        parentbased_traceidratio: "parentbased_traceidratio",
      }),
      default: "parentbased_always_on",
    }),
    samplerRatio: setting({
      env: "OTEL_TRACES_SAMPLER_ARG",
      doc: "With `traceidratio`: the share of requests.",
      type: ratio,
      default: "1",
    }),
  },
};

export function monitoringConfig(settings: ParsedGroup<typeof monitoringSettings>, report: SettingReport) {
  const { logRequests, logClientAddresses, metricsEnabled, metricsToken, metricsAnonymous } = settings;
  if (logClientAddresses.value && !logRequests.value) {
    report.warn(`${logClientAddresses.env} has no effect while ${logRequests.env} is off.`);
  }
  for (const { env, given } of [metricsToken, metricsAnonymous]) {
    if (given && !metricsEnabled.value) report.warn(`${env} has no effect while ${metricsEnabled.env} is off.`);
  }
  if (metricsToken.given && metricsAnonymous.value) {
    report.warn(`${metricsAnonymous.env} has no effect: ${metricsToken.env} is set, so the token is required.`);
  }
  // Metrics show how the server is used, so access without a token must be enabled explicitly. A token that was rejected
  // has a mistake of its own.
  if (metricsEnabled.value && !metricsToken.given && !metricsAnonymous.value) {
    report.mistake(
      `${metricsEnabled.env} is on, but nothing protects /metrics: set ${metricsToken.env}, or ${metricsAnonymous.env} to let everybody read it.`,
      metricsEnabled.env,
    );
  }
  return {
    /** undefined: requests are not logged. `addresses`: each line contains the client's address. */
    requestLog: logRequests.value ? { addresses: logClientAddresses.value } : undefined,
    /** undefined: there is no /metrics. `token` undefined: no token is required. */
    metrics: metricsEnabled.value ? { token: metricsToken.value } : undefined,
  };
}

/** @returns undefined: no traces. */
export function tracingConfig(settings: ParsedGroup<typeof tracingSettings>, report: SettingReport) {
  // Spans are sent as JSON by either protocol.
  const { endpoint, tracesEndpoint, sdkDisabled, exporter, protocol, ...spans } = settings;
  const { sampler, samplerRatio } = spans;
  if (samplerRatio.given && !sampler.value.endsWith("traceidratio")) {
    report.warn(`${samplerRatio.env} has no effect while ${sampler.env} is not traceidratio.`);
  }
  const url = tracesEndpoint.value ?? (endpoint.value === undefined ? undefined : tracesUrl(endpoint.value));
  if (url === undefined || sdkDisabled.value || exporter.value === "none") return undefined;
  return {
    ...valuesOf(spans),
    /** Spans are posted to it; ends with `/v1/traces` unless the operator set it whole. */
    url,
  };
}

/** OpenTelemetry Protocol Exporter, "Endpoint URLs for OTLP/HTTP". */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url.href;
}
