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

const get = (url: string, headers: Record<string, string> = {}) => app.server.inject({ url, headers });

async function create(push: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
  return answer.json().url_token;
}

async function remove(urlToken: string, headers: Record<string, string> = {}) {
  return await app.server.inject({ method: "DELETE", url: `/api/v2/pushes/${urlToken}`, headers });
}

test("the version is public, and ignores an invalid token", async () => {
  for (const url of ["/api/v2/version", "/api/v2/version.json"]) {
    const answer = await get(url, bearer("nonsense"));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      application_version: "0.0.0-test",
      api_version: "2.1",
      edition: "oss",
      features: {
        anonymous_access: true,
        api_token_authentication: true,
        accounts: { enabled: false },
        pushes: {
          enabled: true,
          email_auto_dispatch: false,
          file_attachments: { enabled: true, requires_authentication: true },
          url_pushes: { enabled: true },
          qr_code_pushes: { enabled: true },
        },
        requests: { enabled: false },
      },
    });
  }
});

test.each(["accounts", "requests", "workspaces", "nonsense", "accounts.json", "pushes/a/b/c", ""])(
  "the unknown path /api/v2/%s is answered with 404 in JSON, even with an invalid token",
  async (path) => {
    const answer = await get(`/api/v2/${path}`, { ...bearer("nonsense"), accept: "text/html" });
    expect([answer.statusCode, answer.json()]).toEqual([404, { error: "not-found" }]);
  },
);

test("the OpenAPI description is served", async () => {
  expect((await get("/api/v2/openapi.json")).json().openapi).toBe("3.1.0");
});

describe("deleting a push", () => {
  test("the owner deletes a push; deleting it again changes nothing", async () => {
    const urlToken = await create({ payload: "x", deletable_by_viewer: false }, bearer(token));
    const first = await remove(urlToken, bearer(token));
    expect(first.statusCode).toBe(200);
    expect(first.json()).toMatchObject({ expired: true, deleted: true, expired_on: expect.any(String) });
    expect(Object.keys(first.json())).not.toContain("payload");
    const again = await app.server.inject({
      method: "DELETE",
      url: `/api/v2/pushes/${urlToken}.json`,
      headers: { ...bearer(token), "content-type": "application/json" },
      payload: "null",
    });
    expect([again.statusCode, again.json().expired_on]).toEqual([200, first.json().expired_on]);
    expect((await get(`/api/v2/pushes/${urlToken}`)).json().payload).toBeNull();
  });

  test("anybody may delete a push that its viewers may delete; otherwise 401 or 403", async () => {
    const deletable = await create({ payload: "x" });
    expect((await remove(deletable)).statusCode).toBe(200);
    const kept = await create({ payload: "x", deletable_by_viewer: false }, bearer(token));
    expect((await remove(kept)).statusCode).toBe(401);
    expect((await remove(kept, bearer(otherToken))).statusCode).toBe(403);
    const nobodys = await create({ payload: "x", deletable_by_viewer: false });
    expect((await remove(nobodys)).statusCode).toBe(401);
    expect((await remove(nobodys, bearer(token))).statusCode).toBe(403);
    expect((await remove("unknown")).statusCode).toBe(404);
    expect((await get(`/api/v2/pushes/${kept}`)).json().payload).toBe("x");
    // A stranger does not learn that it has ended.
    await remove(kept, bearer(token));
    expect((await remove(kept)).statusCode).toBe(401);
    expect((await remove(kept, bearer(otherToken))).statusCode).toBe(403);
  });
});

test("a list with long notes, which is sent piece by piece, is JSON too", async () => {
  const urlToken = await create({ payload: "x", note: "n".repeat(40_000) }, bearer(otherToken));
  const { headers, body } = await get("/api/v2/pushes/active", bearer(otherToken));
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(JSON.parse(body)[0]).toMatchObject({ url_token: urlToken, note: "n".repeat(40_000) });
  await remove(urlToken, bearer(otherToken));
});

describe("the audit trail", () => {
  test("lists what happened, oldest first", async () => {
    const urlToken = await create({ payload: "x", passphrase: "p" }, bearer(token));
    app.clock.advance(1_000);
    await get(`/api/v2/pushes/${urlToken}?passphrase=wrong`);
    app.clock.advance(1_000);
    await app.server.inject({
      url: `/api/v2/pushes/${urlToken}?passphrase=p`,
      remoteAddress: "2001:db8::5",
      headers: { "user-agent": `<b>${"a".repeat(400)}`, referer: "https://mail.example/inbox" },
    });
    app.clock.advance(1_000);
    const ended = (await remove(urlToken, bearer(token))).json();
    expect(Date.parse(ended.updated_at) - Date.parse(ended.created_at)).toBe(3_000);
    const { logs } = (await get(`/api/v2/pushes/${urlToken}/audit`, bearer(token))).json();
    expect(logs.map((log: { kind: string }) => log.kind)).toEqual(["creation", "failed_passphrase", "view", "expire"]);
    expect(logs[2]).toMatchObject({ ip: "2001:db8::5", user_agent: `<b>${"a".repeat(252)}` });
    expect(Object.keys(logs[2])).toEqual(["ip", "user_agent", "referrer", "kind", "created_at", "updated_at"]);
    expect(JSON.stringify(logs)).not.toContain(urlToken);
  });

  test("is readable by the owner of the push only", async () => {
    const owned = await create({ payload: "x" }, bearer(token));
    const nobodys = await create({ payload: "x" });
    const status = async (urlToken: string, headers: Record<string, string> = {}) =>
      (await get(`/api/v2/pushes/${urlToken}/audit.json`, headers)).statusCode;
    expect(await status(owned)).toBe(401);
    expect(await status(owned, bearer(otherToken))).toBe(403);
    expect(await status(nobodys, bearer(token))).toBe(403);
    expect(await status("unknown", bearer(token))).toBe(404);
  });
});

describe("lists of pushes", () => {
  test("are JSON arrays, newest first, split into active and expired at the time of the request", async () => {
    const own = bearer(await app.makeToken("lister@example.com"));
    const first = await create({ payload: "a", name: "first", note: "note" }, own);
    app.clock.advance(1);
    const second = await create({ payload: "b", expire_after_duration: 0 }, own);
    const tokens = async (state: string) =>
      (await get(`/api/v2/pushes/${state}`, own)).json().map((push: { url_token: string }) => push.url_token);
    expect(await tokens("active")).toEqual([second, first]);
    expect(await tokens("expired.json")).toEqual([]);
    app.clock.advance(15 * 60_000);
    expect(await tokens("active")).toEqual([first]);
    expect(await tokens("expired")).toEqual([second]);
    expect((await get("/api/v2/pushes/active", own)).json()[0]).toMatchObject({
      name: "first",
      note: "note",
      passphrase: "",
    });
    expect((await get("/api/v2/pushes/active?page=2", own)).json()).toEqual([]);
    expect((await get("/api/v2/pushes/active")).statusCode).toBe(401);
  });

  test.each(["0", "201", "-1", "x", "1.5", "", "01", "1&page=2", "1&page[a]=1", "%00", "9".repeat(50)])(
    "answer 400 to page=%s",
    async (page) => {
      for (const url of ["active", "expired", "abc/audit"]) {
        const answer = await get(`/api/v2/pushes/${url}?page=${page}`, bearer(token));
        expect([answer.statusCode, answer.json()]).toEqual([400, { error: "Invalid page parameter" }]);
      }
    },
  );

  test("accept page 200, the last one allowed", async () => {
    expect((await get("/api/v2/pushes/expired?page=200", bearer(token))).statusCode).toBe(200);
  });
});
