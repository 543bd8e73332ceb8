import { makeLinkKey } from "@sealpush/age/link-key";
import { sealText } from "@sealpush/age/seal";
import { afterEach, describe, expect, it } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { Canaries } from "../support/canaries.ts";
import { metricsOn, metricsToken, readSeries, scrape } from "../support/metrics.ts";
import { rawRequest } from "../support/raw-request.ts";

let app: TestApp | undefined;
afterEach(async () => {
  await app?.[Symbol.asyncDispose]();
  app = undefined;
});

async function start(environment: Readonly<Record<string, string>> = metricsOn) {
  app = await startTestApp({ environment });
  const origin = await app.listen();
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${origin}${path}`, { redirect: "manual", ...init });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const create = async (push: Readonly<Record<string, unknown>>): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const { status, text } = await ask("/api/v2/pushes", { method: "POST", headers, body: JSON.stringify({ push }) });
    expect(status, text).toBe(201);
    return /"url_token":"([a-z0-9]+)"/.exec(text)?.[1] ?? "";
  };
  return { app, origin, ask, create };
}

describe("/metrics, when it is off", () => {
  it.each([{}, { PWP__METRICS__TOKEN: metricsToken }])("is 404 like any unknown path (%o)", async (given) => {
    const { ask } = await start(given);
    for (const authorization of ["", `Bearer ${metricsToken}`]) {
      const seen = async (path: string) => {
        const { status, headers, text } = await ask(path, { headers: { authorization } });
        const id = headers.get("x-request-id") ?? "no id";
        return JSON.stringify([status, [...headers], text])
          .replaceAll(id, "")
          .replace(/"date","[^"]*"/, "");
      };
      expect(await seen("/metrics")).toBe(await seen("/metrica"));
      expect(await seen("/metrics")).toMatch(/^\[404/);
    }
  });
});

describe("/metrics, with a token", () => {
  it.each([
    "",
    "Bearer",
    "Bearer wrong",
    `Bearer ${metricsToken.slice(0, -1)}`,
    `Bearer ${metricsToken}x`,
    `Basic ${metricsToken}`,
    metricsToken,
  ])("is refused with the credentials %j", async (authorization) => {
    const { ask } = await start();
    const { status, headers, text } = await ask("/metrics", { headers: { authorization } });
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(JSON.parse(text)).toEqual({ error: "This needs the metrics token." });
  });

  it("accepts it only in the header", async () => {
    const { ask } = await start();
    const headers = { cookie: `token=${metricsToken}` };
    expect((await ask(`/metrics?token=${metricsToken}`, { headers })).status).toBe(401);
  });

  it("is readable with it and not cached", async () => {
    const { origin } = await start();
    const answer = await scrape(origin);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.text()).toContain("# TYPE sealpush_http_requests_total counter");
  });

  it("is not throttled for its scraper, while guesses are", async () => {
    const { origin, ask } = await start({ ...metricsOn, PWP__THROTTLING__MINUTE: "3" });
    const guess = async () => (await ask("/metrics", { headers: { authorization: "Bearer guess" } })).status;
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([401, 401, 401, 429]);
    for (let i = 0; i < 5; i += 1) expect((await scrape(origin)).status).toBe(200);
  });

  it("is answered for any host name, because scrapers use IP addresses", async () => {
    const { origin } = await start({ ...metricsOn, PWP__ALLOWED_HOSTS: "push.example.com" });
    expect((await scrape(origin)).status).toBe(200);
  });

  it("is open without a token only if configured", async () => {
    const { ask } = await start({ PWP__METRICS__ENABLED: "true", PWP__METRICS__ALLOW_ANONYMOUS: "true" });
    expect((await ask("/metrics")).status).toBe(200);
  });
});

describe("what is counted", () => {
  it("are requests by method, pattern and status", async () => {
    const { origin, ask } = await start();
    for (const path of ["/api/v2/version", "/api/v2/version", "/api/v2/pushes/abcdefgh", "/%zz"]) await ask(path);
    await ask("/api/v2/version", { method: "PUT" });
    const series = await readSeries(origin);
    const requests = (labels: string) => series.get(`sealpush_http_requests_total{${labels}}`);
    expect(requests('method="GET",route="/api/v2/version",status="200"')).toBe(2);
    expect(requests('method="GET",route="/api/v2/pushes/:url_token",status="404"')).toBe(1);
    expect(requests('method="PUT",route="unmatched",status="405"')).toBe(1);
    expect(requests('method="GET",route="unmatched",status="400"')).toBe(1);
    const durations = 'sealpush_http_request_duration_seconds_count{method="GET",route="/api/v2/version"}';
    expect(series.get(durations)).toBe(2);
  });

  it("are claims by outcome and pushes by kind", async () => {
    const { origin, ask, create } = await start();
    const open = await create({ payload: "a", expire_after_views: 1 });
    const guarded = await create({ payload: "b", passphrase: "p" });
    await create({ payload: "https://example.com", kind: "url" });
    const claim = (token: string, passphrase = "") =>
      ask(`/api/v2/pushes/${token}`, { headers: { "x-push-passphrase": passphrase } });
    for (const token of [open, open, "abcdefgh", guarded]) await claim(token);
    for (let guess = 0; guess < 6; guess += 1) await claim(guarded, "wrong");
    const series = await readSeries(origin);
    const outcomes = ["revealed", "gone", "unknown", "passphrase_required", "wrong_passphrase", "too_many_attempts"];
    const claims = outcomes.map((outcome) => series.get(`sealpush_claims_total{outcome="${outcome}"}`));
    expect(claims).toEqual([1, 1, 1, 1, 5, 1]);
    const kinds = ["text", "url", "file", "qr"];
    const made = kinds.map((kind) => series.get(`sealpush_pushes_created_total{kind="${kind}"}`));
    expect(made).toEqual([2, 1, 0, 0]);
  });

  it("are requests for secrets, and answers by who has sealed them", async () => {
    const { app, origin, ask } = await start();
    const { recipient, check } = await makeLinkKey();
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    const path = "/api/sealpush/requests";
    const request = { title: "A password", recipient, encryption_check: check, answers_max: 3 };
    const { text } = await post(path, { request }, bearer(await app.makeToken("owner@example.com")));
    const link = `${path}/${JSON.parse(text).url_token}`;
    const sealed = { payload: await sealText("a", recipient, ""), encryption: "age" };
    const given = [sealed, { payload: "b" }, { payload: "c" }, { payload: "one too many" }];
    for (const answer of given) await post(link, answer);
    const series = await readSeries(origin);
    expect(series.get("sealpush_secret_requests_created_total")).toBe(1);
    const answers = ["sender", "server"].map((sealer) =>
      series.get(`sealpush_secret_request_answers_total{sealed_by="${sealer}"}`),
    );
    expect(answers).toEqual([1, 2]);
  });

  it("is the sweeper's lag and the queue lengths", async () => {
    const { app, origin, create } = await start();
    await create({ payload: "a", expire_after_days: 1 });
    expect((await readSeries(origin)).get("sealpush_sweep_lag_seconds")).toBe(0);
    app.clock.advance(dayMs + 90_000);
    const series = await readSeries(origin);
    expect(series.get("sealpush_sweep_lag_seconds")).toBe(90);
    const queues = [
      'sealpush_mails{state="waiting"}',
      'sealpush_mails{state="failed"}',
      "sealpush_blob_deletions_due",
      'sealpush_argon2_operations{state="waiting"}',
      'sealpush_argon2_operations{state="running"}',
      "sealpush_database_writes_waiting",
    ];
    const lengths = async () => {
      const now = await readSeries(origin);
      return Object.fromEntries(queues.map((queue) => [queue, now.get(queue)]));
    };
    // The jobs write too, at any time.
    await expect.poll(lengths).toEqual(Object.fromEntries(queues.map((queue) => [queue, 0])));
    expect(series.get("sealpush_database_up")).toBe(1);
    expect(series.get("sealpush_database_commits_total")).toBeGreaterThan(0);
    expect(series.has("nodejs_eventloop_lag_p99_seconds")).toBe(true);
    expect(series.has("process_cpu_seconds_total")).toBe(true);
    expect([...series.keys()]).toContainEqual(expect.stringMatching(/^sealpush_build_info\{version="0\.0\.0-test"/));
  });
});

describe("requests without a token", () => {
  it("cannot create additional series", async () => {
    const { app, origin, ask } = await start();
    const fetched = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "PURGE"];
    const raw = ["M-SEARCH", "TRACE", "QUERY", "NONSENSE"];
    const round = async (word: string, at: number) => {
      const headers = { "user-agent": word, referer: `https://${word}.example`, "x-forwarded-host": `${word}.example` };
      for (const path of [`/${word}`, `/p/${word}`, `/api/v2/pushes/${word}`, `/assets/${word}.js`, `/%zz${word}`]) {
        await ask(path, { method: fetched[at % fetched.length] ?? "GET", headers });
      }
      await rawRequest(
        origin,
        `${raw[at % raw.length]} /${word} HTTP/1.1\r\nHost: ${word}\r\nConnection: close\r\n\r\n`,
      );
    };
    const everyMethod = [...Array(fetched.length * raw.length).keys()];
    for (const at of everyMethod) await round("first", at);
    // The request for the metrics has a series of its own.
    await scrape(origin);
    const before = [...(await readSeries(origin)).keys()].sort();
    for (const at of everyMethod) await round(`word${at}`, at);
    const after = [...(await readSeries(origin)).keys()].sort();
    expect(after).toEqual(before);
    expect(after.filter((series) => series.includes("word"))).toEqual([]);
    expect(app.logLines.filter((line) => line.includes("word"))).toEqual([]);
  });

  it("leave no secret in the metrics", async () => {
    const { origin, ask, create } = await start();
    const canaries = new Canaries();
    const passphrase = canaries.make("passphrase");
    const note = canaries.make("note");
    const urlToken = await create({ payload: canaries.make("payload"), passphrase, note });
    canaries.add("token", urlToken);
    canaries.add("metrics token", metricsToken);
    const query = new URLSearchParams({ passphrase }).toString();
    for (const path of [`/p/${urlToken}`, `/p/${urlToken}/r`, `/api/v2/pushes/${urlToken}?${query}`]) await ask(path);
    expect(canaries.findingsIn(Buffer.from(await (await scrape(origin)).text()))).toEqual([]);
  });
});
