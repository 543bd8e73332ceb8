import { afterEach, describe, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { sendJson } from "./headers.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

const open = { access: "public", group: "internal", changesState: false } as const;
const overHttps = { "x-forwarded-proto": "https" };

const start = (environment: Readonly<Record<string, string>> = {}) => startWith({ FORCE_SSL: "true", ...environment });

function startWith(environment: Readonly<Record<string, string>>): BareServer["fastify"] {
  server = startBareServer(environment);
  const { fastify } = server;
  for (const url of ["/up", "/ready", "/page", "/assets/a.css"]) {
    fastify.get(url, { config: open }, (_request, reply) => sendJson(reply, 200, {}));
  }
  return fastify;
}

const host = { host: "push.example" };

describe("a plain HTTP request when HTTPS is required", () => {
  test.each(["GET", "HEAD"] as const)("is redirected by 301 if it is a %s", async (method) => {
    const answer = await start().inject({ method, url: "/page?locale=de&a=%2F", headers: host });
    expect([answer.statusCode, answer.headers.location]).toEqual([301, "https://push.example/page?locale=de&a=%2F"]);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    expect(answer.headers["strict-transport-security"]).toBeUndefined();
  });

  test.each(["POST", "PUT", "DELETE", "PATCH"] as const)("keeps its method if it is a %s", async (method) => {
    const answer = await start().inject({ method, url: "/p.json", headers: host, payload: "payload=x" });
    expect([answer.statusCode, answer.headers.location]).toEqual([308, "https://push.example/p.json"]);
  });

  test("is redirected to the configured address, else to its own host without the HTTP port", async () => {
    const plain = await start().inject({ url: "/page", headers: { host: "push.example:5100" } });
    expect(plain.headers.location).toBe("https://push.example/page");
    await server.fastify.close();
    const settled = await start({ PWP__OVERRIDE_BASE_URL: "https://a.example:8443" }).inject({
      url: "/page",
      headers: host,
    });
    expect(settled.headers.location).toBe("https://a.example:8443/page");
  });

  test("is never redirected to a forged host", async () => {
    const fastify = start({ PWP__ALLOWED_HOSTS: "push.example" });
    const elsewhere = await fastify.inject({ url: "/page", headers: { host: "evil.example" } });
    expect([elsewhere.statusCode, elsewhere.headers.location]).toEqual([400, undefined]);
    const path = await fastify.inject({ url: "//evil.example/page", headers: host });
    expect(new URL(String(path.headers.location)).host).toBe("push.example");
  });

  test.each(["/up", "/ready", "/assets/a.css"])("is answered if it is for %s", async (url) => {
    expect((await start().inject({ url, headers: host })).statusCode).toBe(200);
  });

  test("still counts against the limits", async () => {
    const fastify = start({ PWP__THROTTLING__SECOND: "2" });
    const statuses = [];
    for (let at = 0; at < 3; at += 1) statuses.push((await fastify.inject({ url: "/page", headers: host })).statusCode);
    expect(statuses).toEqual([301, 301, 429]);
  });
});

test("a request by HTTPS through a trusted proxy is answered", async () => {
  const answer = await start().inject({ url: "/page", headers: { ...host, ...overHttps } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["strict-transport-security"]).toBeDefined();
});

test("behind an untrusted proxy there is no endless redirect, and its https claim is not trusted", async () => {
  const answer = await start({ PWP__TRUSTED_PROXIES: "none" }).inject({
    url: "/page",
    headers: { ...host, ...overHttps },
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["strict-transport-security"]).toBeUndefined();
});

test("nothing is redirected unless HTTPS is required", async () => {
  expect((await startWith({}).inject({ url: "/page", headers: host })).statusCode).toBe(200);
});
