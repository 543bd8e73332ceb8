import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { Canaries } from "../support/canaries.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface Span {
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** A collector that records what it gets by OTLP over HTTP. */
async function openCollector() {
  const bodies: string[] = [];
  const paths: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    paths.push(`${request.method} ${request.url}`);
    bodies.push(Buffer.concat(chunks).toString());
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const batches = () => bodies.map((body) => JSON.parse(body) as Batch);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bodies,
    paths,
    batches,
    spans: () =>
      batches().flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    refuse: () => {
      status = 400;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

let collector: Awaited<ReturnType<typeof openCollector>>;
let app: TestApp | undefined;
/** Spans are sent in batches, the last one when the server stops. */
async function end(): Promise<void> {
  const ending = app;
  app = undefined;
  await ending?.[Symbol.asyncDispose]();
}
beforeEach(async () => {
  collector = await openCollector();
});
afterEach(async () => {
  await end();
  await collector.close();
});

async function start(environment: Readonly<Record<string, string>> = {}) {
  app = await startTestApp({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...environment } });
  const origin = await app.listen();
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${origin}${path}`, { redirect: "manual", ...init });
    return { id: answer.headers.get("x-request-id"), status: answer.status, text: await answer.text() };
  };
  return { ask, logLines: app.logLines };
}

const valuesOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

const caller = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const traceparent = (flags: string) => `00-${caller.traceId}-${caller.spanId}-${flags}`;

describe("traces", () => {
  it("have one span per request, named by method and route, without request data", async () => {
    const { ask } = await start({ OTEL_SERVICE_NAME: "handover", OTEL_RESOURCE_ATTRIBUTES: "team=a" });
    const { id } = await ask("/api/v2/pushes/abcdefgh?a=1", { headers: { "x-forwarded-proto": "https" } });
    await ask("/nothing");
    await ask("/up");
    await end();
    expect(new Set(collector.paths)).toEqual(new Set(["POST /v1/traces"]));
    const [first, second, ...others] = collector.spans();
    expect(others).toEqual([]);
    expect(first).toMatchObject({ name: "GET /api/v2/pushes/:url_token", kind: 2 });
    expect(valuesOf(first?.attributes ?? [])).toEqual({
      "http.request.method": "GET",
      "http.route": "/api/v2/pushes/:url_token",
      "http.response.status_code": 404,
      "url.scheme": "https",
      "sealpush.request_id": id,
    });
    expect(first?.status.code ?? 0).toBe(0);
    expect(second).toMatchObject({ name: "GET" });
    const [resource] = collector.batches()[0]?.resourceSpans ?? [];
    expect(valuesOf(resource?.resource.attributes ?? [])).toEqual({
      "service.name": "handover",
      "service.version": "0.0.0-test",
      team: "a",
    });
  });

  it("do not record a method that a client has made up", async () => {
    const { ask } = await start();
    await ask("/robots.txt", { method: "PURGE" });
    await end();
    const [span] = collector.spans();
    expect(span?.name).toBe("HTTP");
    expect(valuesOf(span?.attributes ?? [])).toMatchObject({ "http.request.method": "_OTHER" });
  });

  it("continue the trace of a trusted proxy, and its id is in the request's log line", async () => {
    const { ask, logLines } = await start();
    await ask("/robots.txt", { headers: { traceparent: traceparent("01") } });
    await end();
    expect(collector.spans()).toMatchObject([{ traceId: caller.traceId, parentSpanId: caller.spanId }]);
    expect(logLines.join("")).toContain(`"traceId":"${caller.traceId}"`);
  });

  it("are not recorded if the proxy's trace is not sampled", async () => {
    const { ask, logLines } = await start();
    await ask("/robots.txt", { headers: { traceparent: traceparent("00") } });
    await end();
    expect(collector.spans()).toEqual([]);
    expect(logLines.join("")).not.toContain("traceId");
  });

  it("start anew if the caller is not a trusted proxy or its header is invalid", async () => {
    const { ask } = await start({ PWP__TRUSTED_PROXIES: "none" });
    await ask("/robots.txt", { headers: { traceparent: traceparent("01") } });
    await end();
    const trusted = await start();
    for (const nonsense of ["", "00-0-0-01", `00-${"0".repeat(32)}-${caller.spanId}-01`, `${traceparent("01")}-x`]) {
      await trusted.ask("/robots.txt", { headers: { traceparent: nonsense } });
    }
    await end();
    const spans = collector.spans();
    expect(spans).toHaveLength(5);
    expect(spans.filter(({ traceId, parentSpanId }) => traceId === caller.traceId || parentSpanId)).toEqual([]);
  });

  it("are sampled at the configured rate", async () => {
    const { ask } = await start({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" });
    await ask("/robots.txt");
    await end();
    expect(collector.spans()).toEqual([]);
  });

  it.each([{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }])("are off with %o", async (off) => {
    const { ask } = await start(off);
    await ask("/robots.txt");
    await end();
    expect(collector.bodies).toEqual([]);
  });

  it("that the collector rejects are logged, without any other effect", async () => {
    collector.refuse();
    const { ask, logLines } = await start();
    expect((await ask("/robots.txt")).status).toBe(200);
    await end();
    expect(logLines.filter((line) => line.includes('"event":"traces_not_sent"'))).toHaveLength(1);
    expect(logLines.join("")).not.toContain(collector.endpoint);
  });

  it("contain no token, passphrase, payload, address or user agent", async () => {
    const { ask } = await start();
    const canaries = new Canaries();
    const passphrase = canaries.make("passphrase");
    const headers = { "content-type": "application/json", "user-agent": canaries.makeCore("user agent") };
    const push = { payload: canaries.make("payload"), passphrase };
    const made = await ask("/api/v2/pushes", { method: "POST", headers, body: JSON.stringify({ push }) });
    const urlToken = /"url_token":"([a-z0-9]+)"/.exec(made.text)?.[1] ?? "";
    canaries.add("url token", urlToken);
    const query = new URLSearchParams({ passphrase }).toString();
    for (const path of [`/p/${urlToken}`, `/p/${urlToken}/r?${query}`, `/api/v2/pushes/${urlToken}?${query}`]) {
      await ask(path, { headers: { ...headers, "x-forwarded-for": "198.51.100.77" } });
    }
    await ask(`/files/${canaries.makeCore("ticket")}`, { headers });
    await end();
    expect(collector.spans()).toHaveLength(5);
    const sent = collector.bodies.join("");
    expect(canaries.findingsIn(Buffer.from(sent))).toEqual([]);
    expect(sent).not.toContain("198.51.100.77");
  });
});
