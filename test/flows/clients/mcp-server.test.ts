import { describe, expect, test } from "vitest";
import { formEnd, formPart, replayServer, wire } from "../../support/replay.ts";

/** Python with httpx. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "Accept: application/json",
  "Accept-Encoding: gzip, deflate",
  "Connection: keep-alive",
  "User-Agent: pwpush-mcp/1.4.0",
  ...more,
];
const json = "Content-Type: application/json";

const boundary = "4d9c1b7e3f5a4b6c8d0e2f4a6b8c0d1e";
const multipart = `Content-Type: multipart/form-data; boundary=${boundary}`;
/** A form with fields and a file, as the client sends it to both versions of the API. */
const fileForm = (wrapper: string, fields: Readonly<Record<string, string>>) => {
  const field = ([name, value]: readonly [string, string]) =>
    formPart(boundary, [`Content-Disposition: form-data; name="${wrapper}[${name}]"`], value);
  const disposition = `Content-Disposition: form-data; name="${wrapper}[files][]"; filename="a.csv"`;
  const file = formPart(boundary, [disposition, "Content-Type: text/csv"], "1,2\n");
  return [...Object.entries(fields).map(field), file, formEnd(boundary)].join("");
};

describe("API v2 with .json on every path", () => {
  const bearer = () => [`Authorization: Bearer ${replay.token}`];
  const get = (path: string) => replay.send(wire(request(`GET ${path}`, bearer())));

  test("the version is answered with 200, by which the client recognises API v2", async () => {
    const answer = await get("/api/v2/version.json");
    expect([answer.status, answer.object().api_version]).toEqual([200, "2.1"]);
  });

  test("a push is created, previewed, retrieved, audited, listed and deleted", async () => {
    const body = JSON.stringify({ push: { payload: "x", kind: "text", expire_after_days: 7, expire_after_views: 5 } });
    const made = await replay.send(wire(request("POST /api/v2/pushes.json", [...bearer(), json]), body));
    expect(made.status).toBe(201);
    const { url_token, html_url } = made.object();
    const at = `/api/v2/pushes/${url_token}`;
    expect((await get(`${at}/preview.json`)).object()).toEqual({ url: html_url });
    expect((await get(`${at}.json`)).object()).toMatchObject({ payload: "x", views_remaining: 4 });
    expect((await get(`${at}/audit.json?page=1`)).object().logs).toMatchObject([
      { kind: "creation" },
      { kind: "view" },
    ]);
    expect((await get("/api/v2/pushes/active.json?page=1")).list()).toMatchObject([{ url_token }]);
    expect((await get("/api/v2/pushes/active.json?page=2")).list()).toEqual([]);
    const ended = await replay.send(wire(request(`DELETE ${at}.json`, bearer())));
    expect([ended.status, ended.object().expired]).toEqual([200, true]);
    expect((await get("/api/v2/pushes/expired.json?page=1")).list()).toMatchObject([{ url_token }]);
  });
});

test("API v2: files with an explicit kind create a file push", async () => {
  const body = fileForm("push", { expire_after_duration: "12", expire_after_views: "5", kind: "file" });
  const lines = request("POST /api/v2/pushes.json", [`Authorization: Bearer ${replay.token}`, multipart]);
  const made = await replay.send(wire(lines, body));
  expect([made.status, made.object()]).toMatchObject([201, { kind: "file", expire_after_days: 7 }]);
});

describe("API v1 with X-User-Email and X-User-Token", () => {
  const pair = () => [`X-User-Email: ${replay.email}`, `X-User-Token: ${replay.token}`];
  const get = (path: string) => replay.send(wire(request(`GET ${path}`, pair())));

  test("a web address in the wrapper url creates a url push", async () => {
    const body = JSON.stringify({ url: { payload: "https://example.com/a?b=c", expire_after_views: 3 } });
    const made = await replay.send(wire(request("POST /r.json", [...pair(), json]), body));
    expect([made.status, made.object().deletable_by_viewer]).toEqual([201, null]);
    const opened = await get(`/r/${made.object().url_token}.json`);
    expect(opened.object()).toMatchObject({ payload: "https://example.com/a?b=c", files: [] });
  });

  test("files in the wrapper file create a file push", async () => {
    const body = fileForm("file", { expire_after_views: "2", deletable_by_viewer: "false", payload: "see attached" });
    const made = await replay.send(wire(request("POST /f.json", [...pair(), multipart]), body));
    expect([made.status, made.object()]).toMatchObject([201, { expire_after_views: 2, deletable_by_viewer: false }]);
    const opened = await get(`/f/${made.object().url_token}.json`);
    expect(opened.object()).toMatchObject({ payload: "see attached", files: [{ filename: "a.csv" }] });
  });

  test("an empty wrapper is rejected with the name of the missing field", async () => {
    const answer = await replay.send(wire(request("POST /r.json", [...pair(), json]), '{"url":{}}'));
    expect([answer.status, answer.object()]).toEqual([422, { payload: [expect.any(String)] }]);
  });

  test("a text push is created, previewed, audited, listed and deleted", async () => {
    const body = JSON.stringify({ password: { payload: "x", note: "from an agent" } });
    const made = await replay.send(wire(request("POST /p.json", [...pair(), json]), body));
    const { url_token, html_url } = made.object();
    expect((await get(`/p/${url_token}/preview.json`)).object()).toEqual({ url: html_url });
    expect((await get(`/p/${url_token}/audit.json?page=1`)).object().views).toMatchObject([{ kind: "creation" }]);
    expect((await get("/p/active.json?page=1")).list()[0]).toMatchObject({ url_token, note: "from an agent" });
    const ended = await replay.send(wire(request(`DELETE /p/${url_token}.json`, pair())));
    expect([ended.status, ended.object().deleted]).toEqual([200, true]);
    expect((await get("/p/expired.json?page=1")).list()[0]).toMatchObject({ url_token });
  });
});
