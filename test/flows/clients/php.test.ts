import { describe, expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** PHP over curl, on API v1: it sends numbers and booleans as strings, and treats only 200 and 201 as success. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [
  `${line} HTTP/1.1`,
  `Host: ${replay.host}`,
  "User-Agent: GuzzleHttp/7",
  "Accept: application/json",
  `X-User-Email: ${replay.email}`,
  `X-User-Token: ${replay.token}`,
  ...more,
];

const fields = {
  payload: "geheim",
  expire_after_days: "3",
  expire_after_views: "1",
  deletable_by_viewer: "1",
  retrieval_step: "0",
};

describe.each([
  ["JSON", "application/json", JSON.stringify({ password: fields })],
  [
    "a form",
    "application/x-www-form-urlencoded",
    new URLSearchParams(Object.entries(fields).map(([name, value]) => [`password[${name}]`, value])).toString(),
  ],
])("as %s", (_, type, body) => {
  test("a push is created, retrieved and deleted, with the status codes and keys that the client reads", async () => {
    const make = async () => {
      const made = await replay.send(wire(request("POST /p.json", [`Content-Type: ${type}`]), body));
      expect([made.status, made.object()]).toMatchObject([
        201,
        {
          expire_after_days: 3,
          expire_after_views: 1,
          deletable_by_viewer: true,
          retrieval_step: false,
          deleted: false,
        },
      ]);
      return made.object().url_token;
    };
    const opened = await replay.send(wire(request(`GET /p/${await make()}.json`)));
    expect([opened.status, opened.object()]).toMatchObject([200, { payload: "geheim", deleted: false }]);
    const ended = await replay.send(wire(request(`DELETE /p/${await make()}.json`)));
    expect([ended.status, ended.object()]).toMatchObject([200, { deleted: true, expired: true }]);
  });
});

test("a limit that is not a number is refused, not read as 0", async () => {
  const body = JSON.stringify({ password: { payload: "x", expire_after_days: "three" } });
  const answer = await replay.send(wire(request("POST /p.json", ["Content-Type: application/json"]), body));
  expect([answer.status, Object.keys(answer.object())]).toEqual([422, ["expire_after_days"]]);
});
