import Schema from "typebox/schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { commonKeys } from "../support/push-answers.ts";

let app: TestApp;
let token: string;
let otherToken: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
  otherToken = await app.makeToken("other@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

async function create(push: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

const get = (url: string, headers: Record<string, string> = {}) => app.server.inject({ url, headers });
const retrieve = (urlToken: string, headers: Record<string, string> = {}) => get(`/api/v2/pushes/${urlToken}`, headers);
const viewsLeft = async (urlToken: string) => 5 - (await countedViews(urlToken));

async function countedViews(urlToken: string): Promise<number> {
  const { logs } = (await get(`/api/v2/pushes/${urlToken}/audit`, bearer(token))).json();
  return logs.filter((log: { kind: string }) => log.kind === "view").length;
}

test("the last view returns the payload; later requests do not", async () => {
  const urlToken = await create({ payload: "secret", expire_after_views: 2 });
  expect((await retrieve(urlToken)).json()).toMatchObject({ payload: "secret", expired: false, views_remaining: 1 });
  const last = (await retrieve(urlToken)).json();
  expect(last).toMatchObject({ payload: "secret", expired: false, views_remaining: 0, files: [], passphrase: "" });
  const gone = await retrieve(urlToken);
  expect(gone.statusCode).toBe(200);
  expect(gone.json()).toMatchObject({ payload: null, files: [], expired: true, deleted: false, views_remaining: 0 });
  expect(Object.keys(gone.json())).toEqual(Object.keys(last));
});

test("the response has exactly the keys of the contract, in v2 and in v1", async () => {
  const urlToken = await create({ payload: "secret", name: "n", note: "o" }, bearer(token));
  const two = (await retrieve(urlToken)).json();
  expect(Object.keys(two)).toEqual([...commonKeys, "kind", "expires_at", "payload", "files"]);
  const one = await get(new URL(two.json_url).pathname);
  expect(Object.keys(one.json())).toEqual([...commonKeys, "payload", "files"]);
  expect(one.json().payload).toBe("secret");
});

test("v1 answers null as deletable_by_viewer of a url push", async () => {
  const urlToken = await create({ payload: "https://example.com/", kind: "url", deletable_by_viewer: true });
  expect((await get(`/p/${urlToken}.json`)).json().deletable_by_viewer).toBeNull();
  expect((await retrieve(urlToken)).json().deletable_by_viewer).toBe(true);
});

test("v2 counts a view by anybody; v1 does not count views by the owner", async () => {
  const urlToken = await create({ payload: "secret" }, bearer(token));
  expect((await retrieve(urlToken, bearer(token))).json().views_remaining).toBe(4);
  expect((await get(`/p/${urlToken}.json`, bearer(token))).json().views_remaining).toBe(4);
  expect((await get(`/p/${urlToken}.json`, bearer(otherToken))).json().views_remaining).toBe(3);
  expect((await get(`/p/${urlToken}.json`)).json().views_remaining).toBe(2);
});

test("an unknown or malformed url_token is answered with 404", async () => {
  for (const unknown of ["abc", "a".repeat(64), "a".repeat(65), "a".repeat(2_000), "%00", "a%2Fb", "..%2f..", "a.b"]) {
    const answer = await retrieve(unknown);
    expect([answer.statusCode, answer.body]).toEqual([404, '{"error":"not-found"}']);
  }
});

test("a push is ended from the instant of expires_at", async () => {
  const urlToken = await create({ payload: "secret", expire_after_duration: 0 });
  app.clock.advance(15 * 60_000 - 1);
  expect((await retrieve(urlToken)).json().payload).toBe("secret");
  app.clock.advance(1);
  expect((await retrieve(urlToken)).json()).toMatchObject({ payload: null, expired: true });
});

describe("a push with a passphrase", () => {
  const wrong = { error: "That passphrase is incorrect.", message: expect.any(String), status: "unauthorized" };

  test("answers 401 and counts no view if it is missing or wrong; accepts it in the query or in a header", async () => {
    const urlToken = await create({ payload: "secret", passphrase: "pässphräse 😀" }, bearer(token));
    for (const url of [
      `/api/v2/pushes/${urlToken}`,
      `/api/v2/pushes/${urlToken}?passphrase=`,
      `/p/${urlToken}.json?passphrase=x`,
    ]) {
      const answer = await get(url);
      expect([answer.statusCode, answer.json(), answer.headers["www-authenticate"]]).toEqual([401, wrong, "Bearer"]);
    }
    expect(await viewsLeft(urlToken)).toBe(5);
    const query = encodeURIComponent("pässphräse 😀");
    expect((await get(`/api/v2/pushes/${urlToken}?passphrase=${query}`)).json().payload).toBe("secret");
    const header = Buffer.from("pässphräse 😀").toString("latin1");
    expect((await retrieve(urlToken, { "x-push-passphrase": header })).json().payload).toBe("secret");
    expect((await get(`/api/v2/pushes/${urlToken}?passphrase=a&passphrase=b`)).statusCode).toBe(400);
    const inLatin1 = await create({ payload: "other", passphrase: "p\u00e4ss" });
    expect((await retrieve(inLatin1, { "x-push-passphrase": "p\u00e4ss" })).json().payload).toBe("other");
  });

  test.each([
    ["NFC", "NFD"],
    ["NFD", "NFC"],
    ["NFD", "NFD"],
  ])("that was set in %s opens in %s: systems compose the same characters differently", async (set, typed) => {
    const passphrase = "pässphräse";
    const urlToken = await create({ payload: "secret", passphrase: passphrase.normalize(set) });
    const query = encodeURIComponent(passphrase.normalize(typed));
    expect((await get(`/api/v2/pushes/${urlToken}?passphrase=${query}`)).json().payload).toBe("secret");
    const other = encodeURIComponent("passphrase");
    expect((await get(`/api/v2/pushes/${urlToken}?passphrase=${other}`)).statusCode).toBe(401);
  });

  test("throttles a client that guesses, but not other recipients", async () => {
    const urlToken = await create({ payload: "secret", passphrase: "right" });
    const from = (remoteAddress: string, passphrase: string) =>
      app.server.inject({ url: `/api/v2/pushes/${urlToken}?passphrase=${passphrase}`, remoteAddress });
    for (let i = 0; i < 5; i += 1) expect((await from("198.51.100.1", "wrong")).statusCode).toBe(401);
    app.clock.advance(20_000);
    const stopped = await from("198.51.100.1", "right");
    expect(stopped.statusCode).toBe(429);
    const seconds = Number(stopped.headers["retry-after"]);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(60);
    expect((await from("198.51.100.2", "right")).json().payload).toBe("secret");
  });

  test("bounds the guesses of many addresses, and the recipient is served after a short wait", async () => {
    const urlToken = await create({ payload: "secret", passphrase: "right" });
    const from = (remoteAddress: string, passphrase: string) =>
      app.server.inject({ url: `/api/v2/pushes/${urlToken}?passphrase=${passphrase}`, remoteAddress });
    const guesses = Array.from({ length: 200 }, (_, at) => from(`198.51.100.${at % 100}`, `wrong ${at}`));
    const answers = await Promise.all(guesses);
    const tried = answers.filter((answer) => answer.statusCode === 401).length;
    expect(tried).toBeGreaterThan(0);
    expect(tried).toBeLessThanOrEqual(40);
    const refused = answers.filter((answer) => answer.statusCode === 429);
    expect(refused).toHaveLength(200 - tried);
    for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    app.clock.advance(10_000);
    expect((await from("203.0.113.9", "right")).json().payload).toBe("secret");
  });
});

describe("a request that does not count a view", () => {
  test.each([
    ["HEAD", "HEAD", {}, 200],
    ["OPTIONS", "OPTIONS", {}, 204],
    ["a prefetch", "GET", { "sec-purpose": "prefetch" }, 503],
    ["a prerender", "GET", { "sec-purpose": "prefetch;prerender" }, 503],
    ["a prefetch with Purpose", "GET", { purpose: "prefetch" }, 503],
    ["a prefetch with X-Moz", "GET", { "x-moz": "prefetch" }, 503],
  ] as const)("%s", async (_, method, headers, status) => {
    const push = { payload: "hunter2", retrieval_step: false, expire_after_views: 1 };
    const urlToken = await create(push, bearer(token));
    for (const url of [
      `/api/v2/pushes/${urlToken}`,
      `/api/v2/pushes/${urlToken}.json`,
      `/p/${urlToken}.json`,
      `/p/${urlToken}`,
      `/p/${urlToken}/r`,
    ]) {
      const answer = await app.server.inject({
        method,
        url,
        headers: { ...headers, "user-agent": "Mozilla/5.0 Firefox/133.0" },
      });
      expect([url, answer.statusCode]).toEqual([url, status]);
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(answer.headers["retry-after"]).toBe(status === 503 ? "1" : undefined);
      expect(answer.body).not.toContain("hunter2");
    }
    expect(await countedViews(urlToken)).toBe(0);
  });

  test("a preview", async () => {
    const urlToken = await create({ payload: "secret" }, bearer(token));
    const answer = await get(`/api/v2/pushes/${urlToken}/preview.json`);
    expect([answer.statusCode, answer.json()]).toEqual([200, { url: `http://localhost/p/${urlToken}/r` }]);
    expect(await countedViews(urlToken)).toBe(0);
    expect((await get("/api/v2/pushes/unknown/preview")).statusCode).toBe(404);
  });
});

test("API paths answer every user agent alike", async () => {
  const urlToken = await create({ payload: "secret" });
  for (const agent of ["curl/8.5.0", "python-requests/2.31", "Slackbot-LinkExpanding 1.0"]) {
    expect((await retrieve(urlToken, { "user-agent": agent })).json().payload).toBe("secret");
  }
});

test("the response is JSON that must not be cached, whatever Accept says", async () => {
  const urlToken = await create({ payload: "secret" });
  const answer = await retrieve(`${urlToken}.json`, { accept: "text/html" });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  });
});

test("the description of the API has both answers of a refused retrieval", async () => {
  const document = (await get("/api/v2/openapi.json")).json();
  const schema = document.paths["/api/v2/pushes/{url_token}"].get.responses["401"].content["application/json"].schema;
  const whole = { ...schema, components: document.components };
  const isDescribed = (value: unknown) => Schema.Check(whole, value);
  const urlToken = await create({ payload: "secret", passphrase: "right" });
  for (const headers of [{ "x-push-passphrase": "wrong" }, bearer("unknown")]) {
    const answer = await retrieve(urlToken, headers);
    expect([answer.statusCode, isDescribed(answer.json())]).toEqual([401, true]);
  }
  expect(isDescribed({ error: 1 })).toBe(false);
});

test("GET may have the content type JSON and an empty or null body", async () => {
  const urlToken = await create({ payload: "secret" });
  const headers = { "content-type": "application/json" };
  expect((await app.server.inject({ url: `/api/v2/pushes/${urlToken}`, headers })).statusCode).toBe(200);
  expect((await app.server.inject({ url: `/api/v2/pushes/${urlToken}`, headers, payload: "null" })).statusCode).toBe(
    200,
  );
});
