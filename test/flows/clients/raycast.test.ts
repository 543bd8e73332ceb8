import { expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** An extension on Node's fetch. It sends an empty note and hands out html_url. */
const replay = replayServer();

test.each([
  ["/p.json", "password"],
  ["/api/v2/pushes", "push"],
  ["/api/v2/pushes.json", "push"],
])("%s", async (path, wrapper) => {
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
