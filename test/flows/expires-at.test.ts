import { SealpushClient } from "@sealpush/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dayMs, minuteMs } from "../../src/base/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { signInClient } from "../support/signed-in-client.ts";
import { sendJson, startStandIn } from "../support/stand-in.ts";

// The clock stands at 2026-01-15T12:00:00Z.
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

async function create(push: object, url = "/api/v2/pushes") {
  const wrapper = url === "/p.json" ? "password" : "push";
  return await app.server.inject({ method: "POST", url, payload: { [wrapper]: { payload: "x", ...push } } });
}

test("the server says that it has expires_at", async () => {
  for (const url of ["/api/sealpush", "/api/sealpush.json"]) {
    const answer = await app.server.inject({ url, headers: { authorization: "Bearer invalid" } });
    expect([answer.statusCode, answer.json().features]).toEqual([200, expect.arrayContaining(["expires_at"])]);
  }
});

test.each([
  ["2026-01-17T12:00:00Z", "2026-01-17T12:00:00.000Z", 2],
  ["2026-01-17T14:00:01+02:00", "2026-01-17T12:00:01.000Z", 3],
  ["2026-01-15T12:01Z", "2026-01-15T12:01:00.000Z", 1],
  ["2026-04-15T12:00:00.000Z", "2026-04-15T12:00:00.000Z", 90],
])("%s is echoed in UTC, with the days rounded up, and wins over duration and days", async (sent, expiresAt, days) => {
  const others = { expire_after_duration: 1, expire_after_days: 40 };
  const answer = await create({ expires_at: sent, ...others });
  expect(answer.statusCode).toBe(201);
  expect(answer.json()).toMatchObject({ expires_at: expiresAt, expire_after_days: days });
});

test("a form has it as push[expires_at]", async () => {
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: new URLSearchParams({ "push[payload]": "x", "push[expires_at]": "2026-01-16T12:00:00Z" }).toString(),
  });
  expect(answer.json()).toMatchObject({ expires_at: "2026-01-16T12:00:00.000Z", expire_after_days: 1 });
});

test("a push ends at its instant", async () => {
  await using other = await startTestApp();
  const made = await other.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push: { payload: "x", expires_at: "2026-01-15T12:02:00Z" } },
  });
  const { url_token: urlToken } = made.json();
  const retrieve = async () => (await other.server.inject({ url: `/api/v2/pushes/${urlToken}` })).json().payload;
  other.clock.advance(2 * minuteMs - 1);
  expect(await retrieve()).toBe("x");
  other.clock.advance(1);
  expect(await retrieve()).toBe(null);
});

test("another form of it is refused, and null or nothing counts as not given", async () => {
  for (const bad of ["tomorrow", "2026-01-17", "2026-01-17T12:00:00", "2026-02-30T12:00:00Z", 1_768_651_200]) {
    const answer = await create({ expires_at: bad });
    expect([answer.statusCode, answer.json()]).toEqual([
      422,
      { expires_at: ["must be a time such as 2026-12-01T17:00:00Z."] },
    ]);
  }
  for (const none of [null, ""]) {
    expect((await create({ expires_at: none })).json()).toMatchObject({ expire_after_days: 7 });
  }
});

test("a time that is too near or too far is refused with both bounds", async () => {
  const bounds = ["must be between 2026-01-15T12:01:00.000Z and 2026-04-15T12:00:00.000Z."];
  for (const expiresAt of ["2026-01-15T12:00:59.999Z", "2020-01-01T00:00:00Z", "2026-04-15T12:00:00.001Z"]) {
    const answer = await create({ expires_at: expiresAt });
    expect([answer.statusCode, answer.json()]).toEqual([422, { expires_at: bounds }]);
  }
  await using strict = await startTestApp({ environment: { PWP__POLICY__MAX_MINUTES: "60" } });
  const answer = await strict.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    payload: { push: { payload: "x", expires_at: "2026-01-15T13:00:00.001Z" } },
  });
  expect(answer.json().expires_at).toContain("must be between 2026-01-15T12:01:00.000Z and 2026-01-15T13:00:00.000Z.");
});

test("API v1 ignores it", async () => {
  for (const expiresAt of ["2026-01-17T12:00:00Z", "tomorrow"]) {
    const answer = await create({ expires_at: expiresAt }, "/p.json");
    expect([answer.statusCode, answer.json().expire_after_days]).toEqual([201, 7]);
  }
});

test("a repeated request compares the instant, also when it is near", async () => {
  await using other = await startTestApp();
  const authorization = `Bearer ${await other.makeToken("owner@example.com")}`;
  const send = (expiresAt: string) =>
    other.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      headers: { authorization, "idempotency-key": "a-random-key-of-a-client" },
      payload: { push: { payload: "x", expires_at: expiresAt } },
    });
  const first = await send("2026-01-15T12:05:00Z");
  other.clock.advance(4 * minuteMs + 30_000);
  const again = await send("2026-01-15T14:05:00.000+02:00");
  expect([again.statusCode, again.json().url_token]).toEqual([201, first.json().url_token]);
  expect((await send("2026-01-15T12:05:01Z")).statusCode).toBe(422);
});

test("the client knows the extensions of a server, and ends a push whose server ignored the time", async () => {
  await using other = await startTestApp();
  const client = new SealpushClient({ server: await other.listen() });
  expect(await client.features()).toContain("expires_at");
  const expiresAt = new Date(other.clock.now() + dayMs).toISOString();
  expect(await client.create({ payload: "x", expires_at: expiresAt })).toMatchObject({ expires_at: expiresAt });

  const push = { url_token: "abcdefgh", html_url: "http://push.example.com/p/abcdefgh", expire_after_days: 7 };
  let mayEnd = true;
  const server = await startStandIn((request, _incoming, response) => {
    if (request === "GET /api/v2/version") return sendJson(response, 200, { api_version: "2.1" });
    if (request === "POST /api/v2/pushes") {
      return sendJson(response, 201, { ...push, expires_at: "2026-01-22T12:00:00.000Z" });
    }
    if (request === "DELETE /api/v2/pushes/abcdefgh") {
      return mayEnd ? sendJson(response, 200, push) : sendJson(response, 403, { error: "It is not yours." });
    }
    return sendJson(response, 404, { error: "not-found" });
  });
  const old = new SealpushClient({ server: server.origin });
  expect(await old.features()).toEqual([]);
  await expect(old.create({ payload: "x", expires_at: expiresAt })).rejects.toMatchObject({
    code: "invalid",
    message: "This server does not know expires_at. Its push was ended.",
  });
  expect(server.requests).toContain("DELETE /api/v2/pushes/abcdefgh");
  mayEnd = false;
  await expect(old.create({ payload: "x", expires_at: expiresAt })).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("could not be ended"),
  });
});

test("the form takes a wall clock and its zone, under the rules, and the owner's pages show the end", async () => {
  await using ruled = await startTestApp({ environment: { PWP__POLICY__MAX_MINUTES: String(3 * 24 * 60) } });
  const person = await signInClient(ruled, "ada@example.com", { join: true });
  const create = (fields: Readonly<Record<string, string>>) => {
    const sent = { payload: "x", expire_after_duration: "at", time_zone: "Europe/Berlin", ...fields };
    return person.post("/p", Object.fromEntries(Object.entries(sent).map(([name, value]) => [`push[${name}]`, value])));
  };
  for (const expires_at of ["", "2026-01-15T13:00", "2026-01-18T13:01", "2026-01-17"]) {
    const refused = await create({ expires_at });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('id="push_expires_at_problem"');
  }
  const { location } = await create({ expires_at: "2026-01-17T13:30" });
  const [, urlToken = ""] = /\/p\/([^/]+)/.exec(location ?? "") ?? [];
  for (const path of ["preview", "edit", "audit"]) {
    const { body } = await person.get(`/p/${urlToken}/${path}`);
    expect(body, path).toContain('<time datetime="2026-01-17T12:30:00.000Z"');
  }
});
