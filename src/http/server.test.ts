import { afterEach, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { AppError, invalidFields, unavailable } from "../base/errors.ts";
import { pollHeader } from "../base/poll-header.ts";
import { sendJson, sendPage } from "./headers.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

const open = { access: "public", group: "internal", changesState: false } as const;

function start(environment: Readonly<Record<string, string>> = {}): BareServer["fastify"] {
  server = startBareServer(environment);
  const { fastify } = server;
  fastify.get("/up", { config: open }, (_request, reply) => sendJson(reply, 200, {}));
  fastify.get("/page", { config: open }, (_request, reply) => sendPage(reply, 200, "<p>"));
  fastify.get("/api/base", { config: open }, (request, reply) => sendJson(reply, 200, { base: request.baseUrl }));
  fastify.get("/assets/a.css", { config: open }, (_request, reply) => reply.type("text/css").send(""));
  return fastify;
}

function failing(error: unknown): BareServer["fastify"] {
  const fastify = start();
  for (const url of ["/api/fails", "/fails"]) {
    fastify.get(url, { config: open }, () => {
      throw error;
    });
  }
  return fastify;
}

test.each(["/up", "/page", "/nothing", "/api/nothing", "/assets/a.css", "/%zz"])(
  "constant headers on %s",
  async (url) => {
    const { headers } = await start().inject({ url, headers: { "x-request-id": "mine" } });
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": expect.stringMatching(/^default-src 'none';/),
      "permissions-policy": "camera=(), microphone=(), geolocation=()",
      "x-request-id": expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(headers["strict-transport-security"]).toBeUndefined();
  },
);

test("pages load, run and send only what is their own, in no frame; other answers do nothing", async () => {
  const fastify = start();
  const policy = async (url: string) =>
    String((await fastify.inject({ url })).headers["content-security-policy"])
      .split("; ")
      .toSorted();
  expect(await policy("/page")).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    expect.stringMatching(/^img-src [\w:/. ]+ data:$/),
    "manifest-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
  ]);
  expect(await policy("/up")).toEqual([
    "base-uri 'none'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "sandbox",
  ]);
});

test("answers carry HSTS of two years when a trusted proxy or the settings say https", async () => {
  const twoYears = `max-age=${2 * 365 * 24 * 60 * 60}`;
  const viaProxy = await start().inject({ url: "/up", headers: { "x-forwarded-proto": "https" } });
  expect(viaProxy.headers["strict-transport-security"]).toBe(twoYears);
  await server.fastify.close();
  const bySetting = await start({ PWP__OVERRIDE_BASE_URL: "https://push.example" }).inject({ url: "/up" });
  expect(bySetting.headers["strict-transport-security"]).toBe(twoYears);
});

test("the host must be valid and allowed; /up answers under any host", async () => {
  const fastify = start({ PWP__ALLOWED_HOSTS: "push.example" });
  const get = (url: string, host: string) => fastify.inject({ url, headers: { host } });
  expect((await get("/api/base", "push.example")).json()).toEqual({ base: "http://push.example" });
  expect((await get("/api/base", "evil.example")).statusCode).toBe(400);
  expect((await get("/api/base", "evil.example")).json()).toEqual({ error: expect.any(String) });
  expect((await get("/api/base", "a b")).statusCode).toBe(400);
  expect((await get("/page", "evil.example")).headers["content-type"]).toContain("text/html");
  expect((await get("/up", "10.0.0.3")).statusCode).toBe(200);
});

test("a client with too many requests gets 429; assets and /up do not count", async () => {
  const fastify = start({ PWP__THROTTLING__SECOND: "2", PWP__THROTTLING__MINUTE: "3" });
  const from = (remoteAddress: string, url = "/api/base") => fastify.inject({ url, remoteAddress });
  for (let i = 0; i < 10; i += 1) expect((await from("192.0.2.1", "/assets/a.css")).statusCode).toBe(200);
  for (let i = 0; i < 10; i += 1) expect((await from("192.0.2.1", "/up")).statusCode).toBe(200);
  expect((await from("192.0.2.1")).statusCode).toBe(200);
  expect((await from("192.0.2.1")).statusCode).toBe(200);
  const refused = await from("192.0.2.1");
  expect(refused.statusCode).toBe(429);
  expect(refused.headers["retry-after"]).toBe("1");
  expect(refused.headers["content-security-policy"]).toContain("sandbox");
  expect((await from("192.0.2.2")).statusCode).toBe(200);
  server.clock.advance(1_000);
  expect((await from("192.0.2.1")).statusCode).toBe(200);
  expect((await from("192.0.2.1")).headers["retry-after"]).toBe("59");
  expect((await from("2001:db8::1")).statusCode).toBe(200);
  expect((await from("2001:db8::2")).statusCode).toBe(200);
  expect((await from("2001:db8::3")).statusCode).toBe(429);
});

test("what open pages ask by themselves uses at most half of the requests of a client", async () => {
  const fastify = start({ PWP__THROTTLING__SECOND: "unlimited", PWP__THROTTLING__MINUTE: "6" });
  const ask = async (remoteAddress: string, headers = {}) =>
    (await fastify.inject({ url: "/api/base", remoteAddress, headers })).statusCode;
  const poll = (remoteAddress = "192.0.2.1") => ask(remoteAddress, { [pollHeader]: "1" });
  for (const status of [200, 200, 200, 429, 429]) expect(await poll()).toBe(status);
  for (const status of [200, 200, 200, 429]) expect(await ask("192.0.2.1")).toBe(status);
  for (let request = 0; request < 6; request += 1) expect(await ask("192.0.2.2")).toBe(200);
  expect(await poll("192.0.2.2")).toBe(429);
  server.clock.advance(60_000);
  expect([await poll(), await poll("192.0.2.2")]).toEqual([200, 200]);
});

test.each([
  [new AppError("invalid_request", "Bad."), 400, { error: "Bad." }],
  [new AppError("not_authenticated", "Who?"), 401, { error: "Who?" }],
  [new AppError("forbidden", "No."), 403, { error: "No." }],
  [new AppError("not_found", "whatever"), 404, { error: "not-found" }],
  [new AppError("method_not_allowed", "No."), 405, { error: "No." }],
  [new AppError("too_large", "Big."), 413, { error: "Big." }],
  [new AppError("unsupported_media_type", "No."), 415, { error: "No." }],
  [
    invalidFields({ expireAfterDays: ["a", "b"], payload: ["c"] }),
    422,
    { expire_after_days: ["a", "b"], payload: ["c"] },
  ],
  [new AppError("too_many_requests", "Wait.", { retryAfterSeconds: 7 }), 429, { error: "Wait." }],
  [new AppError("bytes_used_up", "Wait.", { retryAfterSeconds: 7 }), 429, { error: "Wait." }],
  [unavailable("Wait.", 9), 503, { error: "Wait." }],
])("%s becomes %i", async (error, status, body) => {
  const answer = await failing(error).inject({ url: "/api/fails" });
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toEqual(body);
  expect(answer.headers["retry-after"]).toBe(status === 429 ? "7" : status === 503 ? "9" : undefined);
  expect(answer.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
  const page = await server.fastify.inject({ url: "/fails", headers: { accept: "application/json" } });
  expect(page.statusCode).toBe(status);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
});

test("a bug gets a 500 that contains only the request's id, in the answer and in the log", async () => {
  const answer = await failing(new Error("SELECT hunter2 FROM /root/secret")).inject({
    url: "/api/fails?passphrase=hunter2",
  });
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toContain("hunter2");
  const id = String(answer.headers["x-request-id"]);
  expect(answer.json().error).toContain(id);
  expect(server.logLines.join("")).toContain(id);
  expect(server.logLines.join("")).toContain('"/api/fails"');
  expect(server.logLines.join("")).not.toContain("hunter2");
});

test("a thrown value that is not an Error is a bug too", async () => {
  const answer = await failing({ statusCode: 200, message: "hunter2" }).inject({ url: "/api/fails" });
  expect(answer.statusCode).toBe(500);
  expect(answer.body).not.toContain("hunter2");
});

test("another method on a known path gets 405 with Allow, OPTIONS gets Allow, an unknown path gets 404", async () => {
  const fastify = start();
  for (const method of ["DELETE", "PUT", "PATCH", "TRACE", "PROPFIND"] as const) {
    const answer = await fastify.inject({ method: method as "PUT", url: "/api/base?x=1" });
    expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 405, "GET, HEAD"]);
  }
  const options = await fastify.inject({ method: "OPTIONS", url: "/page" });
  expect([options.statusCode, options.headers.allow]).toEqual([204, "GET, HEAD"]);
  expect((await fastify.inject({ method: "PROPFIND" as "GET", url: "/api/none" })).statusCode).toBe(404);
  expect((await fastify.inject({ url: "/some.json" })).json()).toEqual({ error: "not-found" });
  expect((await fastify.inject({ url: "/some" })).headers["content-type"]).toContain("text/html");
});

test("a bad path is refused as JSON or as a page", async () => {
  const fastify = start();
  expect((await fastify.inject({ url: "/api/%zz" })).json()).toEqual({ error: "The path is not a valid URL path." });
  const page = await fastify.inject({ url: "/%c0%af" });
  expect(page.statusCode).toBe(400);
  expect(page.headers["content-type"]).toContain("text/html");
});

test("a route without a declared access and group does not compile, and stops the start", () => {
  const fastify = start();
  expect(() => fastify.get("/forgotten", () => "x")).toThrow("does not declare its access");
  // @ts-expect-error -- no group
  expect(() => fastify.get("/half", { config: { access: "public", changesState: false } }, () => "x")).toThrow(
    "does not declare its access and its group",
  );
});

test("a route that accepts tokens but declares no scope stops the start", () => {
  const fastify = start();
  const said = "must declare a scope if tokens count there";
  for (const access of ["api", "api_token"] as const) {
    const config = { access, group: "internal" as const, changesState: false };
    expect(() => fastify.get(`/${access}`, { config }, () => "x")).toThrow(said);
  }
  const config = { access: "page", group: "internal", changesState: false, scope: "read" } as const;
  expect(() => fastify.get("/page-with-scope", { config }, () => "x")).toThrow(said);
});

test("the inventory contains every route", () => {
  start();
  expect(server.routes).toContainEqual({
    method: "HEAD",
    pattern: "/api/base",
    access: "public",
    group: "internal",
    changesState: false,
    scope: null,
    retrieval: false,
    streamsFiles: false,
  });
});

test("forwarding headers of an untrusted peer are ignored and reported", async () => {
  const fastify = start({ PWP__TRUSTED_PROXIES: "none" });
  const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", host: "push.example" };
  const answer = await fastify.inject({ url: "/api/base", headers });
  expect(answer.json()).toEqual({ base: "http://push.example" });
  expect(server.forwarders).toEqual(["127.0.0.1"]);
});
