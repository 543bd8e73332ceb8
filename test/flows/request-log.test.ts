import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { Canaries } from "../support/canaries.ts";
import { rawRequest } from "../support/raw-request.ts";

let app: TestApp | undefined;
async function end(): Promise<void> {
  const ending = app;
  app = undefined;
  await ending?.[Symbol.asyncDispose]();
}
afterEach(end);

interface Line {
  readonly event: string;
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address?: string;
  readonly suppressedCount?: number;
}

async function start(environment: Readonly<Record<string, string>> = {}) {
  app = await startTestApp({ environment });
  const { logLines, ...running } = app;
  const origin = await running.listen();
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${origin}${path}`, { redirect: "manual", ...init });
    return { id: answer.headers.get("x-request-id") ?? "", status: answer.status, text: await answer.text() };
  };
  /** The request lines; one write may contain several. */
  const lines = (): readonly Line[] =>
    logLines
      .flatMap((written) => written.trimEnd().split("\n"))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ event }) => event === "request");
  const linesAfter = async (count: number) => {
    await expect.poll(() => lines().length).toBeGreaterThanOrEqual(count);
    return lines();
  };
  return { app, origin, ask, lines, linesAfter, logLines };
}

describe("the request log", () => {
  it("has one line for each request, under the id that its answer carries", async () => {
    const { ask, linesAfter } = await start();
    const asked = [];
    for (const path of ["/api/v2/version", "/p/abcdefgh", "/nothing/here", "/%zz"]) asked.push(await ask(path));
    asked.push(await ask("/api/v2/version", { method: "PUT" }));
    const lines = await linesAfter(5);
    expect(lines.map(({ requestId }) => requestId)).toEqual(asked.map(({ id }) => id));
    expect(lines.map(({ method, route, status }) => `${method} ${route} ${status}`)).toEqual([
      "GET /api/v2/version 200",
      `GET /p/:token ${asked[1]?.status}`,
      "GET unmatched 404",
      "GET unmatched 400",
      "PUT unmatched 405",
    ]);
    expect(lines[0]).toEqual({
      level: "info",
      time: "2026-01-15T12:00:00.000Z",
      event: "request",
      requestId: asked[0]?.id,
      method: "GET",
      route: "/api/v2/version",
      status: 200,
      durationMs: 0,
    });
  });

  it("does not record health checks, scrapes and page assets", async () => {
    const { ask, linesAfter } = await start({
      PWP__METRICS__ENABLED: "true",
      PWP__METRICS__ALLOW_ANONYMOUS: "true",
    });
    for (const path of ["/up", "/ready", "/metrics", "/assets/page.js", "/robots.txt"]) await ask(path);
    expect((await linesAfter(1)).map(({ route }) => route)).toEqual(["/robots.txt"]);
  });

  it("records client addresses only if configured", async () => {
    const headers = { "x-forwarded-for": "198.51.100.7" };
    const silent = await start();
    await silent.ask("/robots.txt", { headers });
    expect(Object.keys((await silent.linesAfter(1))[0] ?? {})).not.toContain("address");
    await end();
    const telling = await start({ PWP__LOG_CLIENT_ADDRESSES: "true" });
    await telling.ask("/robots.txt", { headers });
    expect((await telling.linesAfter(1))[0]?.address).toBe("198.51.100.7");
  });

  it.each([{ PWP__LOG_REQUESTS: "false" }, { PWP__LOG_LEVEL: "warn" }])("is off with %o", async (environment) => {
    const { ask, lines } = await start(environment);
    await ask("/robots.txt");
    await end();
    expect(lines()).toEqual([]);
  });

  it("is complete after the server has exited", async () => {
    const { ask, lines } = await start();
    await ask("/robots.txt");
    await end();
    expect(lines()).toHaveLength(1);
  });

  it("is not flooded by throttled requests", async () => {
    const { app, ask, linesAfter } = await start({ PWP__THROTTLING__MINUTE: "2" });
    for (let at = 0; at < 50; at += 1) await ask("/robots.txt");
    app.clock.advance(1_000);
    await ask("/robots.txt");
    const lines = await linesAfter(4);
    expect(lines.map(({ status, suppressedCount }) => [status, suppressedCount])).toEqual([
      [200, undefined],
      [200, undefined],
      [429, 0],
      [429, 47],
    ]);
  });

  it("records a response that was cut off", async () => {
    const { app, origin, linesAfter } = await start();
    const entered = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    vi.spyOn(app.app.domain.pushes, "claimView").mockImplementation(async () => {
      entered.resolve();
      await left.promise;
      return { outcome: "unknown" };
    });
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.write("GET /api/v2/pushes/abcdefgh HTTP/1.1\r\nHost: a\r\n\r\n");
    await entered.promise;
    socket.destroy();
    await once(socket, "close");
    const [line] = await linesAfter(1);
    left.resolve();
    expect(line).toMatchObject({ route: "/api/v2/pushes/:url_token", status: 499 });
  });

  it("is JSON for any input, and contains none of the input", async () => {
    const { origin, linesAfter, logLines } = await start({ PWP__LOG_CLIENT_ADDRESSES: "true" });
    const hostile = [
      'GET /canary"},{"event":"forged"\\ HTTP/1.1\r\nHost: canary"\r\nUser-Agent: canary"\\\r\nConnection: close\r\n\r\n',
      'GET /p/canary%0A{"forged":1} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: canary", 1.2.3.4\r\nConnection: close\r\n\r\n',
      "M-SEARCH /canary HTTP/1.1\r\nHost: a\r\nX-Request-Id: canary\r\nConnection: close\r\n\r\n",
      "CANARY /canary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ];
    for (const request of hostile) await rawRequest(origin, request);
    const lines = await linesAfter(3);
    expect(lines.map(({ event }) => event)).toEqual(["request", "request", "request"]);
    expect(logLines.join("")).not.toMatch(/canary|forged/i);
  });

  it("holds no token, passphrase, payload or ticket", async () => {
    const { ask, linesAfter, logLines } = await start({ PWP__LOG_LEVEL: "debug" });
    const canaries = new Canaries();
    const passphrase = canaries.make("passphrase");
    const push = { payload: canaries.make("payload"), passphrase, name: canaries.make("name") };
    const headers = { "content-type": "application/json" };
    const made = await ask("/api/v2/pushes", { method: "POST", headers, body: JSON.stringify({ push }) });
    const urlToken = /"url_token":"([a-z0-9]+)"/.exec(made.text)?.[1] ?? "";
    canaries.add("url token", urlToken);
    const query = new URLSearchParams({ passphrase }).toString();
    await ask(`/p/${urlToken}?${query}`);
    await ask(`/api/v2/pushes/${urlToken}?passphrase=${encodeURIComponent(canaries.make("guess"))}`);
    await ask(`/api/v2/pushes/${urlToken}`, { headers: { "x-push-passphrase": encodeURIComponent(passphrase) } });
    await ask(`/api/v2/pushes/${urlToken}?${query}`);
    await ask(`/files/${canaries.makeCore("ticket")}`);
    await linesAfter(6);
    expect(canaries.findingsIn(Buffer.from(logLines.join("")))).toEqual([]);
  });
});
