import { describe, expect, test } from "vitest";
import { type Fields, formEnd, formPart, replayServer, wire } from "../../support/replay.ts";

/** Python with requests. It sends the token in Authorization and in X-User-Token. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = [], credentials = true) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "User-Agent: python-requests/2.32.3",
  "Accept-Encoding: gzip, deflate",
  "Accept: */*",
  "Connection: keep-alive",
  ...(credentials
    ? [`Authorization: Bearer ${replay.token}`, `X-User-Email: ${replay.email}`, `X-User-Token: ${replay.token}`]
    : []),
  ...more,
];
const get = (path: string) => replay.send(wire(request(`GET ${path}`)));
const post = (path: string, body: object, credentials = true) =>
  replay.send(wire(request(`POST ${path}`, ["Content-Type: application/json"], credentials), JSON.stringify(body)));

async function push(fields: Fields): Promise<Fields> {
  const answer = await post("/api/v2/pushes", { push: fields });
  expect(answer.status).toBe(201);
  return answer.object();
}

test("the version of API v2 is answered without .json and without Accept: application/json", async () => {
  const answer = await replay.send(wire(request("GET /api/v2/version", [], false)));
  expect(answer.status).toBe(200);
  expect(answer.object()).toMatchObject({ api_version: "2.1", edition: "oss" });
});

test("numbers and booleans may be strings, and the preview has the link", async () => {
  const made = await push({
    payload: "correct horse",
    expire_after_views: "2",
    deletable_by_viewer: "true",
    retrieval_step: "false",
    note: "for Ada",
    passphrase: "",
  });
  expect(made).toMatchObject({ expire_after_views: 2, deletable_by_viewer: true, retrieval_step: false });
  const preview = await get(`/api/v2/pushes/${made.url_token}/preview`);
  expect([preview.status, preview.object()]).toEqual([200, { url: `${replay.origin}/p/${made.url_token}` }]);
});

test.each([
  ...[1, 2, 3, 4, 5, 6, 7].map((days, index) => [days, 6 + index] as const),
  ...([14, 21, 30, 60, 90] as const).map((days, index) => [days, 13 + index] as const),
])("--days %i is sent as expire_after_duration %i", async (days, duration) => {
  expect(await push({ payload: "x", expire_after_duration: duration })).toMatchObject({
    expire_after_days: days,
    days_remaining: days,
  });
  expect(await push({ payload: "x", expire_after_duration: String(duration) })).toMatchObject({
    expire_after_days: days,
    days_remaining: days,
  });
});

test("a file with an empty payload creates a file push", async () => {
  const boundary = "8c2b1f0e4d6a4f7b9a3c5d7e9f1b2a4c";
  const body = [
    formPart(boundary, ['Content-Disposition: form-data; name="push[payload]"'], ""),
    formPart(boundary, ['Content-Disposition: form-data; name="push[expire_after_views]"'], "3"),
    formPart(boundary, ['Content-Disposition: form-data; name="push[files][]"; filename="notes.txt"'], "hello\n"),
    formEnd(boundary),
  ].join("");
  const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
  const answer = await replay.send(wire(request("POST /api/v2/pushes", [type]), body));
  expect(answer.status).toBe(201);
  const opened = (await get(`/api/v2/pushes/${answer.object().url_token}`)).object();
  expect(opened).toMatchObject({ payload: null, files: [{ filename: "notes.txt", url: expect.any(String) }] });
});

describe("responses that the client reads", () => {
  test("lists have the fields that the client's tables show", async () => {
    await push({ payload: "x", note: "listed", expire_after_duration: 8, expire_after_views: 4 });
    const ended = await push({ payload: "x", note: "ended" });
    const deleted = await replay.send(wire(request(`DELETE /api/v2/pushes/${ended.url_token}`, ["Content-Length: 0"])));
    expect([deleted.status, deleted.object()]).toMatchObject([200, { expired: true, deleted: true }]);

    for (const [state, note] of [
      ["active", "listed"],
      ["expired", "ended"],
    ]) {
      const answer = await get(`/api/v2/pushes/${state}`);
      expect(answer.status).toBe(200);
      const shown = answer.list().find((listed) => listed.note === note);
      expect(shown).toMatchObject({
        url_token: expect.stringMatching(/^[a-z0-9]+$/),
        deletable_by_viewer: expect.any(Boolean),
        retrieval_step: expect.any(Boolean),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      for (const key of ["expire_after_days", "expire_after_views", "days_remaining", "views_remaining"]) {
        expect(Number.isInteger(shown?.[key])).toBe(true);
      }
    }
  });

  test("name and note of a push without labels are empty strings", async () => {
    const { url_token, name, note } = await push({ payload: "x" });
    const listed = (await get("/api/v2/pushes/active")).list().find((one) => one.url_token === url_token);
    expect([name, note, listed?.name, listed?.note]).toEqual(["", "", "", ""]);
  });

  test("the audit trail", async () => {
    const { url_token } = await push({ payload: "x" });
    const { logs } = (await get(`/api/v2/pushes/${url_token}/audit`)).object();
    expect(logs).toMatchObject([{ kind: "creation", ip: "127.0.0.1", user_agent: "python-requests/2.32.3" }]);
  });

  test("an error response has the key error, and is not a 403, which the client would retry", async () => {
    const wrong = await post("/api/v2/pushes", { password: { payload: "x" } });
    expect([wrong.status, wrong.object()]).toEqual([400, { error: expect.any(String) }]);
    const unknown = await get("/api/v2/pushes/nothing-there/preview");
    expect([unknown.status, unknown.object()]).toEqual([404, { error: "not-found" }]);
    const stranger = await replay.send(wire(request("GET /api/v2/pushes/active", [], false)));
    expect([stranger.status, stranger.object().error]).toEqual([401, expect.any(String)]);
    for (const answer of [wrong, unknown, stranger]) expect(answer.header("retry-after")).toBe("");
  });
});

test("API v1: a push is created, previewed, listed and deleted", async () => {
  const answer = await post("/p.json", { password: { payload: "x", expire_after_views: "2", retrieval_step: "true" } });
  expect(answer.status).toBe(201);
  const { url_token } = answer.object();
  const preview = await get(`/p/${url_token}/preview.json`);
  expect([preview.status, preview.object()]).toEqual([200, { url: `${replay.origin}/p/${url_token}/r` }]);
  expect((await get("/p/active.json")).list().map((listed) => listed.url_token)).toContain(url_token);
  const deleted = await replay.send(wire(request(`DELETE /p/${url_token}.json`, ["Content-Length: 0"])));
  expect([deleted.status, deleted.object().deleted]).toEqual([200, true]);
});
