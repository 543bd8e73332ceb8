import { afterEach, describe, expect, test } from "vitest";
import { type BareServer, startBareServer } from "../../test/support/http-server.ts";
import { sendJson } from "./headers.ts";

let server: BareServer;
afterEach(() => server.fastify.close());

const open = { access: "public", changesState: false } as const;
const overHttps = { "x-forwarded-proto": "https" };

function start(environment: Readonly<Record<string, string>> = {}): BareServer["fastify"] {
  server = startBareServer({ FORCE_SSL: "true", ...environment });
  const { fastify } = server;
  for (const url of ["/up", "/ready", "/page", "/assets/a.css"]) {
    fastify.get(url, { config: open }, (_request, reply) => sendJson(reply, 200, {}));
  }
  return fastify;
}

const host = { host: "push.example" };

describe("a request by plain HTTP, when HTTPS is asked of all", () => {
  test.each(["GET", "HEAD"] as const)("is sent on by 301 when it is a %s", async (method) => {
    const answer = await start().inject({ method, url: "/page?locale=de&a=%2F", headers: host });
    expect([answer.statusCode, answer.headers.location]).toEqual([301, "https://push.example/page?locale=de&a=%2F"]);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    expect(answer.headers["strict-transport-security"]).toBeUndefined();
  });

  test.each(["POST", "PUT", "DELETE", "PATCH"] as const)("keeps its method when it is a %s", async (method) => {
    const answer = await start().inject({ method, url: "/p.json", headers: host, payload: "payload=x" });
    expect([answer.statusCode, answer.headers.location]).toEqual([308, "https://push.example/p.json"]);
  });

  test("goes to the address of the settings, else to its own host without the port of plain HTTP", async () => {
    const plain = await start().inject({ url: "/page", headers: { host: "push.example:5100" } });
    expect(plain.headers.location).toBe("https://push.example/page");
    await server.fastify.close();
    const settled = await start({ PWP__OVERRIDE_BASE_URL: "https://a.example:8443" }).inject({
      url: "/page",
      headers: host,
    });
    expect(settled.headers.location).toBe("https://a.example:8443/page");
  });

  test("is led to no host that somebody made up", async () => {
    const fastify = start({ PWP__ALLOWED_HOSTS: "push.example" });
    const elsewhere = await fastify.inject({ url: "/page", headers: { host: "evil.example" } });
    expect([elsewhere.statusCode, elsewhere.headers.location]).toEqual([400, undefined]);
    const path = await fastify.inject({ url: "//evil.example/page", headers: host });
    expect(new URL(String(path.headers.location)).host).toBe("push.example");
  });

  test.each(["/up", "/ready", "/assets/a.css"])("stays when it is for %s", async (url) => {
    expect((await start().inject({ url, headers: host })).statusCode).toBe(200);
  });

  test("is one of those that still count against the limits", async () => {
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

test("behind a proxy that nobody trusts there is no endless redirect, and its word is not believed either", async () => {
  const answer = await start({ PWP__TRUSTED_PROXIES: "none" }).inject({
    url: "/page",
    headers: { ...host, ...overHttps },
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["strict-transport-security"]).toBeUndefined();
});

test("nothing is sent on unless it is asked for", async () => {
  expect((await start({ FORCE_SSL: "false" }).inject({ url: "/page", headers: host })).statusCode).toBe(200);
});
