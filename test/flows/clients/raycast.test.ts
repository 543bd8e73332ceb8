import { describe, expect, test } from "vitest";
import { formEnd, formPart, replayServer, wire } from "../../support/replay.ts";

/** A Raycast extension on Node's fetch. It sends an empty note and shows html_url. */
const replay = replayServer();

test.each([
  ["/p.json", "password"],
  ["/api/v2/pushes", "push"],
  ["/api/v2/pushes.json", "push"],
])("POST %s creates a push, and html_url is its link", async (path, wrapper) => {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${replay.host}`,
    "connection: keep-alive",
    "content-type: application/json",
    `authorization: Bearer ${replay.token}`,
    "accept: */*",
    "accept-language: *",
    "sec-fetch-mode: cors",
    "user-agent: node",
    "accept-encoding: gzip, deflate",
  ];
  const fields = { payload: "x", note: "", passphrase: "", expire_after_days: 7, expire_after_views: 5 };
  const made = await replay.send(wire(lines, JSON.stringify({ [wrapper]: fields })));
  expect(made.status).toBe(201);
  expect(made.object().html_url).toBe(`${replay.origin}/p/${made.object().url_token}/r`);
  expect(made.object().note ?? "").toBe("");
});

describe("later versions, on API v2 with a workspace_id", () => {
  const request = (line: string, more: readonly string[] = []) => [
    `${line} HTTP/1.1`,
    `host: ${replay.host}`,
    "connection: keep-alive",
    `authorization: Bearer ${replay.token}`,
    ...more,
    "accept: application/json",
    "accept-language: *",
    "sec-fetch-mode: cors",
    "user-agent: node",
    "accept-encoding: gzip, deflate",
  ];

  test("a push is created with the fields that the client keeps, and deleted", async () => {
    const fields = { payload: "x", expire_after_duration: 6, expire_after_views: 10, kind: "text" };
    const push = { ...fields, deletable_by_viewer: false, retrieval_step: false };
    const lines = request("POST /api/v2/pushes", ["content-type: application/json"]);
    const made = await replay.send(wire(lines, JSON.stringify({ push, workspace_id: 3 })));
    expect(made.status).toBe(201);
    const { html_url, url_token, expires_at, created_at, views_remaining } = made.object();
    expect([new URL(String(html_url)).origin, views_remaining]).toEqual([replay.origin, 10]);
    expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(24 * 60 * 60 * 1000);
    const ended = await replay.send(wire(request(`DELETE /api/v2/pushes/${url_token}`)));
    expect([ended.status, ended.object().deleted]).toEqual([200, true]);
  });

  test("a file push is created", async () => {
    const boundary = "----formdata-undici-012345678901";
    const field = (name: string, value: string) =>
      formPart(boundary, [`Content-Disposition: form-data; name="${name}"`], value);
    const file = ['Content-Disposition: form-data; name="push[files][]"; filename="été.md"'];
    const body = [
      field("push[payload]", ""),
      field("push[kind]", "file"),
      field("push[expire_after_duration]", "6"),
      field("push[retrieval_step]", "false"),
      field("workspace_id", "3"),
      formPart(boundary, [...file, "Content-Type: application/octet-stream"], "# hello"),
      formEnd(boundary),
    ].join("");
    const type = `content-type: multipart/form-data; boundary=${boundary}`;
    const made = await replay.send(wire(request("POST /api/v2/pushes", [type]), body));
    expect([made.status, made.object()]).toMatchObject([201, { kind: "file", expire_after_days: 1 }]);
    const opened = await replay.send(wire(request(`GET /api/v2/pushes/${made.object().url_token}`)));
    expect(opened.object().files).toMatchObject([{ filename: "été.md" }]);
  });

  test("the list of workspaces is answered with 404", async () => {
    const answer = await replay.send(wire(request("GET /api/v2/workspaces")));
    expect([answer.status, answer.object()]).toEqual([404, { error: "not-found" }]);
  });
});
