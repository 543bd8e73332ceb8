import { describe, expect, test } from "vitest";
import { type Answer, formEnd, formPart, replayServer, wire } from "../../support/replay.ts";

/** PowerShell 7 on API v1. Its GET and DELETE have a content type and the body null, or an empty body. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "User-Agent: PassPushPosh/0.4.0 Microsoft Windows 10.0.22631",
  "Accept-Encoding: gzip, deflate, br",
  ...more,
];
const json = "Content-Type: application/json";
const bearer = () => `Authorization: Bearer ${replay.token}`;

function call(method: "GET" | "DELETE", path: string, more: readonly string[] = []): Promise<Answer> {
  return replay.send(wire(request(`${method} ${path}`, [json, ...more]), "null"));
}

function make(path: string, body: object, more: readonly string[] = [bearer()]): Promise<Answer> {
  return replay.send(wire(request(`POST ${path}`, [json, ...more]), JSON.stringify(body)));
}

test("the API version is above 1.0, by which the client recognises that Bearer works", async () => {
  const answer = await call("GET", "/api/v1/version.json", [bearer()]);
  expect(answer.status).toBe(200);
  expect(Number(answer.object().api_version)).toBeGreaterThan(1);
  expect((await call("GET", "/p/active.json", [bearer()])).status).toBe(200);
});

test("X-User-Email and X-User-Token authenticate the same user", async () => {
  const pair = [`X-User-Email: ${replay.email}`, `X-User-Token: ${replay.token}`];
  expect((await call("GET", "/p/active.json", pair)).status).toBe(200);
});

test("json_url without .json is the link of the push", async () => {
  const made = await make("/p.json", { password: { payload: "a secret", retrieval_step: true } });
  expect(made.status).toBe(201);
  const link = String(made.object().json_url).slice(0, -".json".length);
  expect(link).toBe(`${replay.origin}/p/${made.object().url_token}`);
  for (const address of [link, `${link}/r`]) {
    expect((await replay.send(wire(request(`GET ${new URL(address).pathname}`)))).status).toBe(200);
  }
});

test("a push is retrieved, previewed, audited, listed and deleted", async () => {
  const { url_token, html_url } = (await make("/p.json", { password: { payload: "a secret", note: "n" } })).object();
  expect((await call("GET", `/p/${url_token}.json`)).object().payload).toBe("a secret");
  expect((await call("GET", `/p/${url_token}/preview.json`)).object()).toEqual({ url: html_url });
  expect((await call("GET", `/p/${url_token}/audit.json`, [bearer()])).object().views).toMatchObject([
    { kind: "creation" },
    { kind: "view" },
  ]);
  expect((await call("GET", "/p/active.json", [bearer()])).list()[0]).toMatchObject({ url_token, note: "n" });
  const ended = await call("DELETE", `/p/${url_token}.json`, [bearer()]);
  expect([ended.status, ended.object()]).toMatchObject([200, { expired: true, deleted: true }]);
  expect((await call("GET", "/p/expired.json", [bearer()])).list()[0]).toMatchObject({ url_token });
});

test.each(["GET", "DELETE"])(
  "%s may have a content type without a body, with or without Content-Length",
  async (method) => {
    for (const more of [[], ["Content-Length: 0"]]) {
      const { url_token } = (await make("/p.json", { password: { payload: "a secret" } })).object();
      const answer = await replay.send(wire(request(`${method} /p/${url_token}.json`, [json, bearer(), ...more])));
      expect([answer.status, answer.object().url_token]).toEqual([200, url_token]);
    }
    const list = await replay.send(wire(request("GET /p/active.json", [json, bearer()])));
    expect([list.status, list.list().length > 0]).toEqual([200, true]);
  },
);

test("a url push is created at /r.json", async () => {
  const made = await make("/r.json", { url: { payload: "https://example.com/" } }, []);
  expect([made.status, made.object().deletable_by_viewer]).toEqual([201, null]);
});

test("files are downloaded without a token", async () => {
  const boundary = "a1b2c3d4-0000-4000-8000-000000000000";
  const body = [
    formPart(boundary, ['Content-Disposition: form-data; name="file_push[payload]"'], "see attached"),
    formPart(
      boundary,
      [
        'Content-Disposition: form-data; name="file_push[files][]"; filename="a.txt"; filename*=utf-8\'\'a.txt',
        "Content-Type: application/octet-stream",
      ],
      "hello",
    ),
    formEnd(boundary),
  ].join("");
  const type = `Content-Type: multipart/form-data; boundary="${boundary}"`;
  const made = await replay.send(wire(request("POST /f.json", [bearer(), type]), body));
  expect(made.status).toBe(201);
  const { payload, files } = (await call("GET", `/f/${made.object().url_token}.json`)).object();
  expect([payload, files]).toEqual([
    "see attached",
    [{ filename: "a.txt", content_type: "text/plain", url: expect.any(String) }],
  ]);
  const { url } = Object(files)[0];
  const downloaded = await replay.send(wire(request(`GET ${new URL(String(url)).pathname}`)));
  expect([downloaded.status, downloaded.text]).toEqual([200, "hello"]);
});

describe("every error response is a JSON object that is not empty", () => {
  test.each([
    ["missing token", 401, () => call("GET", "/p/active.json")],
    ["an invalid token", 401, () => call("GET", "/p/active.json", ["Authorization: Bearer wrong"])],
    ["an invalid token where none is needed", 401, () => make("/p.json", {}, ["Authorization: Bearer wrong"])],
    ["an unknown push", 404, () => call("GET", "/p/unknown-push.json")],
    ["deleting an unknown push", 404, () => call("DELETE", "/p/unknown-push.json", [bearer()])],
    ["missing wrapper", 400, () => make("/p.json", {})],
    ["an empty payload", 422, () => make("/p.json", { password: { payload: "" } })],
    ["an unknown path", 404, () => call("GET", "/api/v1/unknown.json")],
  ])("%s: %i", async (_, status, ask) => {
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.object()).length).toBeGreaterThan(0);
  });
});
