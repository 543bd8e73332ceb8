import { expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** Rust with reqwest, on API v1: a form whose values are not percent-encoded, without a Content-Type. */
const replay = replayServer();

test.each([
  ["no content type", []],
  ["an empty content type", ["content-type:"]],
])("a form body with %s creates a push", async (_, typed) => {
  const body =
    "password[payload]=correct horse!&password[note]=für Ada&password[expire_after_views]=1&password[expire_after_days]=1";
  const lines = ["POST /p.json HTTP/1.1", "accept: */*", `host: ${replay.host}`, ...typed];
  const made = await replay.send(wire(lines, body));
  expect(made.status).toBe(201);
  expect(made.object()).toMatchObject({ expire_after_views: 1, expire_after_days: 1 });
  const get = () => replay.send(wire([`GET /p/${made.object().url_token}.json HTTP/1.1`, `host: ${replay.host}`]));
  expect((await get()).object()).toMatchObject({ payload: "correct horse!", expired: false, views_remaining: 0 });
  expect((await get()).object()).toMatchObject({ payload: null, expired: true });
});

test("a request without a body is answered with 400", async () => {
  const lines = ["POST /p.json HTTP/1.1", "accept: */*", `host: ${replay.host}`];
  const answer = await replay.send(wire(lines, ""));
  expect([answer.status, answer.object()]).toEqual([400, { error: expect.any(String) }]);
});
