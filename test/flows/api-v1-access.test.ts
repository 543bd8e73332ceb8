import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
let token: string;
let otherToken: string;
beforeAll(async () => {
  app = await startTestApp();
  token = await app.makeToken("owner@example.com");
  otherToken = await app.makeToken("other@example.com");
});
afterAll(() => app[Symbol.asyncDispose]());

type Headers = Readonly<Record<string, string>>;

const get = (url: string, headers: Headers = {}) => app.server.inject({ url, headers });
const remove = (url: string, headers: Headers = {}) => app.server.inject({ method: "DELETE", url, headers });
const post = (url: string, payload: object, headers: Headers = {}) =>
  app.server.inject({ method: "POST", url, headers, payload });

async function made(url: string, payload: object, headers: Headers = {}) {
  const answer = await post(url, payload, headers);
  expect([answer.statusCode, answer.body]).toEqual([201, expect.any(String)]);
  return answer.json();
}

describe("lists of pushes", () => {
  test("contain the owner's pushes of every kind, on every path", async () => {
    const lister = await app.makeToken("lister@example.com");
    const text = await made("/p.json", { password: { payload: "x", note: "n" } }, bearer(lister));
    const address = await made("/r.json", { url: { payload: "https://example.com/" } }, bearer(lister));
    await remove(`/p/${text.url_token}.json`, bearer(lister));
    for (const letter of ["p", "f", "r"]) {
      const active = (await get(`/${letter}/active.json`, bearer(lister))).json();
      expect(active).toMatchObject([{ url_token: address.url_token, deletable_by_viewer: null, passphrase: "" }]);
      const expired = (await get(`/${letter}/expired.json`, bearer(lister))).json();
      expect(expired).toMatchObject([{ url_token: text.url_token, note: "n", deleted: true }]);
    }
  });

  test.each(["/p/active.json", "/f/expired.json"])("%s returns page 1 for page=0 too", async (url) => {
    const at = (page: string) => get(`${url}?page=${page}`, bearer(token));
    expect((await at("0")).json()).toEqual((await at("1")).json());
    for (const page of ["-1", "201", "x", "", "1.5"]) {
      const answer = await at(page);
      expect([answer.statusCode, answer.json()]).toEqual([400, { error: "Invalid page parameter" }]);
    }
  });

  test("the audit returns page 1 for page=0 too", async () => {
    const { url_token } = await made("/p.json", { password: { payload: "x" } }, bearer(token));
    expect((await get(`/p/${url_token}/audit.json?page=0`, bearer(token))).json().views).toHaveLength(1);
  });
});

describe("requests from pages of other origins", () => {
  const origin = { origin: "https://elsewhere.example" };

  test("may create a push and read the response or error", async () => {
    for (const [body, status] of [
      [{ password: { payload: "x" } }, 201],
      [{ password: { payload: "" } }, 422],
      [{}, 400],
    ] as const) {
      const answer = await post("/p.json", body, origin);
      expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([status, "*"]);
      expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  test("may send the content type and the token, says the preflight response", async () => {
    const answer = await app.server.inject({
      method: "OPTIONS",
      url: "/p.json",
      headers: {
        ...origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-user-email,x-user-token",
      },
    });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(answer.headers["access-control-allow-methods"]).toBe("POST");
    expect(answer.headers["access-control-max-age"]).toBe("600");
    const allowed = String(answer.headers["access-control-allow-headers"]).toLowerCase().split(", ");
    expect(allowed).toEqual(expect.arrayContaining(["authorization", "content-type", "x-user-email", "x-user-token"]));
  });

  test("may not read the response of any other endpoint", async () => {
    const { url_token } = await made("/p.json", { password: { payload: "x" } });
    const answers = await Promise.all([
      get(`/p/${url_token}.json`, origin),
      get("/p.json", origin),
      post("/f.json", {}, origin),
      post("/r.json", {}, origin),
      post("/api/v2/pushes", {}, origin),
      app.server.inject({ method: "OPTIONS", url: "/f.json", headers: origin }),
    ]);
    for (const answer of answers) expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("may read the 429 of a throttled request", async () => {
    await using slow = await startTestApp({
      environment: { PWP__THROTTLING__MINUTE: "1", PWP__THROTTLING__SECOND: "1" },
    });
    const ask = () => slow.server.inject({ method: "POST", url: "/p.json", headers: origin, payload: {} });
    await ask();
    const answer = await ask();
    expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([429, "*"]);
    expect(answer.json()).toEqual({ error: expect.any(String) });
  });
});

describe("authentication", () => {
  test("X-User-Email and X-User-Token take precedence over Bearer", async () => {
    const both = { "x-user-email": "owner@example.com", "x-user-token": token, ...bearer("nonsense") };
    expect((await get("/p/active.json", both)).statusCode).toBe(200);
    const otherEmail = { "x-user-email": "other@example.com", "x-user-token": token, ...bearer("nonsense") };
    expect((await get("/p/active.json", otherEmail)).statusCode).toBe(200);
  });

  test("the owner may delete a push, and anybody if its viewers may; otherwise 401 or 403", async () => {
    const fields = { payload: "x", deletable_by_viewer: false };
    const { url_token } = await made("/p.json", { password: fields }, bearer(token));
    expect((await remove(`/p/${url_token}.json`)).statusCode).toBe(401);
    expect((await remove(`/f/${url_token}.json`, bearer(otherToken))).statusCode).toBe(403);
    for (const _ of [1, 2]) {
      const ended = await remove(`/p/${url_token}.json`, bearer(token));
      expect([ended.statusCode, ended.json()]).toMatchObject([200, { expired: true, deleted: true }]);
    }
  });

  test("without anonymous access, every endpoint except the version needs a token", async () => {
    await using closed = await startTestApp({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
    const at = async (method: "GET" | "POST" | "DELETE", url: string) =>
      (await closed.server.inject({ method, url })).statusCode;
    expect(await at("POST", "/p.json")).toBe(401);
    expect(await at("GET", "/p/x.json")).toBe(401);
    expect(await at("DELETE", "/p/x.json")).toBe(401);
    expect(await at("GET", "/p/x/preview.json")).toBe(401);
    expect(await at("GET", "/api/v1/version.json")).toBe(200);
    expect(await at("GET", "/api")).toBe(200);
  });
});
