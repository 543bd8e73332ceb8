import { describe, expect, it } from "vitest";
import { loadValid, mistakesOf } from "../../../test/support/settings.ts";

const token = "a-token-of-some-length";

describe("metrics", () => {
  it("are off by default, even with other settings of metrics", () => {
    const { config, warnings } = loadValid({ PWP__METRICS__TOKEN: token });
    expect(config.metrics).toBeUndefined();
    expect(warnings).toEqual(["PWP__METRICS__TOKEN has no effect while PWP__METRICS__ENABLED is off."]);
  });

  it("do not start without a token unless that is explicitly allowed", () => {
    expect(mistakesOf({ PWP__METRICS__ENABLED: "true" })).toEqual([
      "PWP__METRICS__ENABLED is on, but nothing protects /metrics: set PWP__METRICS__TOKEN, or " +
        "PWP__METRICS__ALLOW_ANONYMOUS to let everybody read it.",
    ]);
    expect(loadValid({ PWP__METRICS__ENABLED: "true", PWP__METRICS__TOKEN: token }).config.metrics).toEqual({ token });
    const open = loadValid({ PWP__METRICS__ENABLED: "true", PWP__METRICS__ALLOW_ANONYMOUS: "true" });
    expect(open.config.metrics).toEqual({ token: undefined });
  });

  it("keep the token if public access is allowed as well", () => {
    const { config, warnings } = loadValid({
      PWP__METRICS__ENABLED: "true",
      PWP__METRICS__ALLOW_ANONYMOUS: "true",
      PWP__METRICS__TOKEN: token,
    });
    expect(config.metrics).toEqual({ token });
    expect(warnings).toHaveLength(1);
  });

  it.each(["short", "with a blank in it, and long", `${"x".repeat(257)}`])(
    "refuse the token %j and do not repeat it",
    (given) => {
      const [mistake = "", ...others] = mistakesOf({ PWP__METRICS__ENABLED: "true", PWP__METRICS__TOKEN: given });
      expect(mistake).toMatch(/^PWP__METRICS__TOKEN cannot be used: it must be /);
      expect(mistake).not.toContain(given);
      expect(others).toEqual([]);
    },
  );
});

describe("the request log", () => {
  it("contains no addresses by default", () => {
    expect(loadValid({}).config.requestLog).toEqual({ addresses: false });
    expect(loadValid({ PWP__LOG_CLIENT_ADDRESSES: "true" }).config.requestLog).toEqual({ addresses: true });
    expect(loadValid({ PWP__LOG_REQUESTS: "false" }).config.requestLog).toBeUndefined();
  });
});

describe("traces", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/" };

  it("go to /v1/traces below the general endpoint, or to their own endpoint unchanged", () => {
    expect(loadValid(endpoint).config.tracing?.url).toBe("http://127.0.0.1:4318/v1/traces");
    expect(loadValid({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://a.example/otlp" }).config.tracing?.url).toBe(
      "https://a.example/otlp/v1/traces",
    );
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:9/here" };
    expect(loadValid({ ...endpoint, ...own }).config.tracing?.url).toBe("http://127.0.0.1:9/here");
  });

  it("can be switched off by each of the two settings", () => {
    expect(loadValid({ ...endpoint, OTEL_SDK_DISABLED: "true" }).config.tracing).toBeUndefined();
    expect(loadValid({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }).config.tracing).toBeUndefined();
    expect(loadValid({}).config.tracing).toBeUndefined();
  });

  it("read their other settings in the format of OpenTelemetry", () => {
    const { config } = loadValid({
      ...endpoint,
      OTEL_SERVICE_NAME: "handover",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test, team=a%2Cb",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
    });
    expect(config.tracing).toMatchObject({
      serviceName: "handover",
      resourceAttributes: { "deployment.environment": "test", team: "a,b" },
      sampler: "parentbased_traceidratio",
      samplerRatio: 0.25,
    });
  });

  it.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team=%zz"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.5"],
    ["OTEL_TRACES_SAMPLER_ARG", "."],
  ])("refuse %s=%s", (name, value) => {
    expect(mistakesOf({ ...endpoint, [name]: value })).toHaveLength(1);
  });
});
