import { optionalSetting, setting } from "./setting.ts";
import { accessToken, attributePairs, collectorUrl, share } from "./telemetry-types.ts";
import { anyText, oneWordOf, truth } from "./value-type.ts";

/** The part of the settings table about what the server tells of itself. */
export const telemetrySettings = {
  watching: {
    title: "Request log and metrics",
    intro: "What the server tells of itself to those who run it. Neither ever holds a link, a token or a secret.",
    settings: {
      logRequests: setting({
        env: "PWP__LOG_REQUESTS",
        doc: "Whether each request is logged when it has been answered: one line with request id, method, pattern of the route, status and duration.",
        type: truth,
        default: "true",
      }),
      logClientAddresses: setting({
        env: "PWP__LOG_CLIENT_ADDRESSES",
        doc: "Whether these lines say which address a request came from. An address is personal data: tell people, and delete old logs.",
        type: truth,
        default: "false",
      }),
      metricsEnabled: setting({
        env: "PWP__METRICS__ENABLED",
        doc: "Whether `/metrics` tells a Prometheus server how this one does. When off, there is nothing at that address.",
        type: truth,
        default: "false",
      }),
      metricsToken: optionalSetting({
        env: "PWP__METRICS__TOKEN",
        doc: "What has to be sent to `/metrics`, as `Authorization: Bearer <token>`.",
        type: accessToken,
        unset: "none; metrics then need the setting below",
        hidden: "always",
      }),
      metricsAnonymous: setting({
        env: "PWP__METRICS__ALLOW_ANONYMOUS",
        doc: "Whether `/metrics` answers whoever asks when there is no token. Only where nobody else can reach it.",
        type: truth,
        default: "false",
      }),
    },
  },
  tracing: {
    title: "Traces",
    intro:
      "OpenTelemetry's own settings: with an endpoint, one span for each request goes to it by OTLP over HTTP, as JSON. The packages are not part of the installation: see [operations](operations.md#traces). Its other settings (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_TIMEOUT`, `OTEL_BSP_*` and so on) are read by these packages themselves.",
    settings: {
      endpoint: optionalSetting({
        env: "OTEL_EXPORTER_OTLP_ENDPOINT",
        doc: "The collector's address; `/v1/traces` is added to it.",
        type: collectorUrl,
        unset: "no traces",
        hidden: "when_refused",
      }),
      tracesEndpoint: optionalSetting({
        env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        doc: "The whole address for traces, instead of the one above.",
        type: collectorUrl,
        unset: "as the one above says",
        hidden: "when_refused",
      }),
      sdkDisabled: setting({
        env: "OTEL_SDK_DISABLED",
        doc: "Whether no traces are sent, whatever else is set.",
        type: truth,
        default: "false",
      }),
      exporter: setting({
        env: "OTEL_TRACES_EXPORTER",
        doc: "How traces leave; with `none` they do not.",
        type: oneWordOf({ otlp: "otlp", none: "none" }),
        default: "otlp",
      }),
      protocol: setting({
        env: "OTEL_EXPORTER_OTLP_PROTOCOL",
        doc: "JSON is sent in either case: collectors take both at one address.",
        type: oneWordOf({ "http/json": "http/json", "http/protobuf": "http/json" }),
        default: "http/json",
      }),
      serviceName: setting({
        env: "OTEL_SERVICE_NAME",
        doc: "What this server is called in traces.",
        type: anyText("a name"),
        default: "sealpush",
      }),
      resourceAttributes: optionalSetting({
        env: "OTEL_RESOURCE_ATTRIBUTES",
        doc: "What else is said of this server in traces.",
        type: attributePairs,
        unset: "nothing",
      }),
      sampler: setting({
        env: "OTEL_TRACES_SAMPLER",
        doc: "Which requests become spans. With `parentbased_`, a trusted proxy that sends `traceparent` decides first.",
        type: oneWordOf({
          always_on: "always_on",
          always_off: "always_off",
          traceidratio: "traceidratio",
          parentbased_always_on: "parentbased_always_on",
          parentbased_always_off: "parentbased_always_off",
          parentbased_traceidratio: "parentbased_traceidratio",
        }),
        default: "parentbased_always_on",
      }),
      samplerShare: setting({
        env: "OTEL_TRACES_SAMPLER_ARG",
        doc: "With `traceidratio`: which share of the requests.",
        type: share,
        default: "1",
      }),
    },
  },
};
