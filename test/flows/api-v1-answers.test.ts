import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { commonKeys } from "../support/push-answers.ts";

let app: TestApp;
let token: string;
let otherToken: string;
let adminToken: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
  otherToken = await app.makeToken("other@example.com");
  adminToken = await app.makeToken("admin@example.com", true);
});
afterAll(() => app[Symbol.asyncDispose]());

type Method = "GET" | "HEAD" | "OPTIONS" | "POST" | "DELETE" | "PATCH";
type Headers = Readonly<Record<string, string>>;

const ask = (method: Method, url: string, headers: Headers = {}, payload?: string | object) =>
  app.server.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });

async function make(fields: object = {}, headers: Headers = bearer(token)): Promise<string> {
  const answer = await ask("POST", "/p.json", headers, { password: { payload: "x", ...fields } });
  expect(answer.statusCode).toBe(201);
  return answer.json().url_token;
}

const sorted = (keys: readonly string[]) => [...keys].sort();
const listedKeys = sorted([...commonKeys, "name", "note"]);
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test.each(["active", "expired"])("the list %s has the keys and types of v1 for every kind of push", async (state) => {
  const lister = bearer(await app.makeToken(`${state}@example.com`));
  const file = { filename: "a.txt", content_type: "text/plain", data: "eA==" };
  for (const [url, body] of [
    ["/p.json", { password: { payload: "x", expire_after_days: "3", expire_after_views: "4" } }],
    ["/p.json", { password: { payload: "x", kind: "qr", name: "n", note: "o" } }],
    ["/f.json", { file_push: { files: [file] } }],
    ["/r.json", { url: { payload: "https://example.com/" } }],
  ] as const) {
    const made = await ask("POST", url, lister, body);
    expect(made.statusCode).toBe(201);
    if (state === "expired") await ask("DELETE", `/p/${made.json().url_token}.json`, lister);
  }
  const list = (await ask("GET", `/p/${state}.json`, lister)).json();
  expect(list).toHaveLength(4);
  for (const push of list) {
    expect(sorted(Object.keys(push))).toEqual(listedKeys);
    for (const key of ["expire_after_days", "expire_after_views", "days_remaining", "views_remaining"]) {
      expect([key, Number.isInteger(push[key])]).toEqual([key, true]);
    }
    for (const key of ["expired", "deleted", "retrieval_step"])
      expect([key, typeof push[key]]).toEqual([key, "boolean"]);
    for (const key of ["created_at", "updated_at"]) expect(push[key]).toMatch(isoTime);
    expect(push.passphrase).toBe(state === "expired" ? null : "");
    if (state === "expired") expect(push.expired_on).toMatch(isoTime);
    else expect(push.expired_on).toBeNull();
  }
});

describe("every error response is JSON of the same shape", () => {
  const error = { error: expect.stringMatching(/./) };
  const json = { "content-type": "application/json" };
  type Case = readonly [what: string, status: number, body: object, ask: (t: string) => ReturnType<typeof ask>];
  test.each<Case>([
    ["missing wrapper", 400, error, () => ask("POST", "/p.json", json, "{}")],
    ["broken JSON", 400, error, () => ask("POST", "/f.json", { ...json, ...bearer(token) }, "{")],
    ["page -1", 400, { error: "Invalid page parameter" }, () => ask("GET", "/p/active.json?page=-1", bearer(token))],
    ["a list without a token", 401, error, () => ask("GET", "/r/expired.json")],
    ["an audit trail without a token", 401, error, (t) => ask("GET", `/p/${t}/audit.json`)],
    ["a file push without a token", 401, error, () => ask("POST", "/f.json", json, '{"file_push":{"files":[{}]}}')],
    ["an invalid token where none is needed", 401, error, (t) => ask("GET", `/p/${t}.json`, bearer("bad"))],
    [
      "missing passphrase",
      401,
      { error: "That passphrase is incorrect.", message: expect.any(String), status: "unauthorized" },
      async () => ask("GET", `/p/${await make({ passphrase: "open" })}.json`),
    ] as const,
    ["deletion without a token", 401, error, (t) => ask("DELETE", `/p/${t}.json`)],
    ["deletion with another user's token", 403, error, (t) => ask("DELETE", `/p/${t}.json`, bearer(otherToken))],
    [
      "an audit trail with another user's token",
      403,
      error,
      (t) => ask("GET", `/f/${t}/audit.json`, bearer(otherToken)),
    ],
    ["an unknown push", 404, { error: "not-found" }, () => ask("GET", "/p/unknown.json")],
    ["the preview of an unknown push", 404, { error: "not-found" }, () => ask("GET", "/r/unknown/preview.json")],
    [
      "the audit trail of an unknown push",
      404,
      { error: "not-found" },
      () => ask("GET", "/p/unknown/audit.json", bearer(token)),
    ],
    ["an unknown path", 404, { error: "not-found" }, () => ask("GET", "/api/v1/pushes.json")],
    ["a method that is not allowed", 405, error, (t) => ask("PATCH", `/p/${t}.json`)],
    ["an unsupported content type", 415, error, () => ask("POST", "/p.json", { "content-type": "text/xml" }, "<x/>")],
    [
      "invalid fields",
      422,
      { expire_after_views: [expect.any(String)], payload: [expect.any(String)] },
      () => ask("POST", "/p.json", json, '{"password":{"payload":"","expire_after_views":"900"}}'),
    ] as const,
    ["an empty wrapper", 422, { payload: [expect.any(String)] }, () => ask("POST", "/r.json", json, '{"url":{}}')],
  ])("%s: %i", async (_, status, body, refused) => {
    const answer = await refused(await make({ deletable_by_viewer: false }));
    expect([answer.statusCode, answer.json()]).toEqual([status, body]);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  test("too many wrong passphrases: 429 with Retry-After", async () => {
    const url = `/p/${await make({ passphrase: "open" })}.json?passphrase=wrong`;
    for (let tries = 0; tries < 5; tries += 1) expect((await ask("GET", url)).statusCode).toBe(401);
    const answer = await ask("GET", url);
    expect([answer.statusCode, answer.json()]).toEqual([429, error]);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("pages of another origin can read every error of POST /p.json", async () => {
    const origin = { origin: "https://elsewhere.example" };
    for (const [status, headers, payload] of [
      [400, json, "{"],
      [401, { ...json, ...bearer("bad") }, '{"password":{"payload":"x"}}'],
      [401, json, '{"password":{"payload":"x","files":[]}}'],
      [415, { "content-type": "text/xml" }, "<x/>"],
      [422, json, '{"password":{}}'],
    ] as const) {
      const answer = await ask("POST", "/p.json", { ...origin, ...headers }, payload);
      expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([status, "*"]);
    }
  });
});

test("HEAD, OPTIONS and a preview count no view under /p, /f and /r", async () => {
  const urlToken = await make({ expire_after_views: 1 });
  for (const letter of ["p", "f", "r"]) {
    for (const method of ["HEAD", "OPTIONS"] as const) {
      const answer = await ask(method, `/${letter}/${urlToken}.json`);
      expect([method, answer.statusCode < 300, answer.body]).toEqual([method, true, ""]);
    }
    expect((await ask("GET", `/${letter}/${urlToken}/preview.json`)).json()).toEqual({
      url: `http://localhost/p/${urlToken}/r`,
    });
  }
  expect((await ask("GET", `/p/${urlToken}.json`)).json()).toMatchObject({ payload: "x", views_remaining: 0 });
});

test("only retrieving needs the passphrase; audit, preview and delete ignore it", async () => {
  const urlToken = await make({ passphrase: "open", deletable_by_viewer: true });
  for (const query of ["", "?passphrase=wrong", "?passphrase=open"]) {
    expect((await ask("GET", `/p/${urlToken}/audit.json${query}`, bearer(token))).json().views).toMatchObject([
      { kind: "creation" },
    ]);
    expect((await ask("GET", `/p/${urlToken}/preview.json${query}`)).statusCode).toBe(200);
  }
  const ended = await ask("DELETE", `/p/${urlToken}.json?passphrase=wrong`);
  expect([ended.statusCode, ended.json()]).toMatchObject([200, { deleted: true, passphrase: null }]);
});

test("retrievals by the owner or an administrator count no view, even on the last view and with a passphrase", async () => {
  const urlToken = await make({ passphrase: "open", expire_after_views: 1 });
  const open = (headers: Headers = {}) => ask("GET", `/p/${urlToken}.json?passphrase=open`, headers);
  for (const value of [token, adminToken, token]) {
    expect((await open(bearer(value))).json()).toMatchObject({ payload: "x", views_remaining: 1, expired: false });
  }
  expect((await open(bearer(otherToken))).json()).toMatchObject({ payload: "x", views_remaining: 0 });
  for (const value of [token, adminToken]) {
    expect((await open(bearer(value))).json()).toMatchObject({ payload: null, files: [], expired: true });
  }
});

test.each([
  [
    "all credentials of one user",
    200,
    () => ({ "x-user-email": "owner@example.com", "x-user-token": token, ...bearer(token) }),
  ],
  [
    "Bearer of another user",
    200,
    () => ({ "x-user-email": "owner@example.com", "x-user-token": token, ...bearer(otherToken) }),
  ],
  [
    "a valid Bearer token with an invalid pair",
    401,
    () => ({ "x-user-email": "owner@example.com", "x-user-token": "bad", ...bearer(token) }),
  ],
  [
    "another user's token in the pair",
    403,
    () => ({ "x-user-email": "owner@example.com", "x-user-token": otherToken, ...bearer(token) }),
  ],
  ["X-User-Email alone with Bearer", 200, () => ({ "x-user-email": "other@example.com", ...bearer(token) })],
  ["X-User-Token alone with Bearer", 200, () => ({ "x-user-token": otherToken, ...bearer(token) })],
  ["an empty pair with Bearer", 200, () => ({ "x-user-email": "", "x-user-token": "", ...bearer(token) })],
  [
    "an empty Bearer token with the pair",
    200,
    () => ({ "x-user-email": "owner@example.com", "x-user-token": token, authorization: "Bearer " }),
  ],
])(
  "X-User-Email and X-User-Token take precedence over Bearer if both are given: %s is %i",
  async (_, status, headers) => {
    const urlToken = await make();
    const answer = await ask("GET", `/p/${urlToken}/audit.json`, headers());
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([status, [status === 200 ? "views" : "error"]]);
  },
);
