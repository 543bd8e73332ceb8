import { describe, expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** Python with httpx. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "Accept: application/json",
  "Accept-Encoding: gzip, deflate",
  "Connection: keep-alive",
  "User-Agent: python-httpx/0.28.1",
  ...more,
];
const json = "Content-Type: application/json";

describe("API v2, every path with .json", () => {
  const bearer = () => [`Authorization: Bearer ${replay.token}`];
  const get = (path: string) => replay.send(wire(request(`GET ${path}`, bearer())));

  test("the version is no 404, so it takes this server for one of API v2", async () => {
    const answer = await get("/api/v2/version.json");
    expect([answer.status, answer.object().api_version]).toEqual([200, "2.1"]);
  });

  test("make, preview, open, audit, list, end", async () => {
    const body = JSON.stringify({ push: { payload: "x", kind: "text", expire_after_days: 7, expire_after_views: 5 } });
    const made = await replay.send(wire(request("POST /api/v2/pushes.json", [...bearer(), json]), body));
    expect(made.status).toBe(201);
    const { url_token, html_url } = made.object();
    const at = `/api/v2/pushes/${url_token}`;
    expect((await get(`${at}/preview.json`)).object()).toEqual({ url: html_url });
    expect((await get(`${at}.json`)).object()).toMatchObject({ payload: "x", views_remaining: 4 });
    expect((await get(`${at}/audit.json?page=1`)).object().logs).toMatchObject([
      { kind: "view" },
      { kind: "creation" },
    ]);
    expect((await get("/api/v2/pushes/active.json?page=1")).list()).toMatchObject([{ url_token }]);
    expect((await get("/api/v2/pushes/active.json?page=2")).list()).toEqual([]);
    const ended = await replay.send(wire(request(`DELETE ${at}.json`, bearer())));
    expect([ended.status, ended.object().expired]).toEqual([200, true]);
    expect((await get("/api/v2/pushes/expired.json?page=1")).list()).toMatchObject([{ url_token }]);
  });
});

describe("API v1, with the older headers only", () => {
  const pair = () => [`X-User-Email: ${replay.email}`, `X-User-Token: ${replay.token}`];
  const get = (path: string) => replay.send(wire(request(`GET ${path}`, pair())));

  test("an address, under its own wrapper", async () => {
    const body = JSON.stringify({ url: { payload: "https://example.com/a?b=c", expire_after_views: 3 } });
    const made = await replay.send(wire(request("POST /r.json", [...pair(), json]), body));
    expect([made.status, made.object().deletable_by_viewer]).toEqual([201, null]);
    const opened = await get(`/r/${made.object().url_token}.json`);
    expect(opened.object()).toMatchObject({ payload: "https://example.com/a?b=c", files: [] });
  });

  test("an empty wrapper is told what is missing", async () => {
    const answer = await replay.send(wire(request("POST /r.json", [...pair(), json]), '{"url":{}}'));
    expect([answer.status, answer.object()]).toEqual([422, { payload: [expect.any(String)] }]);
  });

  test("a text: make, preview, audit, list, end", async () => {
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
