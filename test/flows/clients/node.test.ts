import { expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** Node with axios, on API v1: a form with "on" for booleans and Accept: text/html. It treats a limit of 0 as an error. */
const replay = replayServer();

test("a form with checkboxes creates a push, and no limit in the response is 0", async () => {
  const body =
    "password%5Bpayload%5D=a%20b%26c%2Bd%25&password%5Bexpire_after_days%5D=2&password%5Bexpire_after_views%5D=3" +
    "&password%5Bdeletable_by_viewer%5D=on&password%5Bretrieval_step%5D=on";
  const made = await replay.send(
    wire(
      [
        "POST /p.json HTTP/1.1",
        "Accept: text/html,application/xhtml+xml,application/xml",
        "Content-Type: application/x-www-form-urlencoded",
        "User-Agent: axios/1.7.9",
        "Accept-Encoding: gzip, compress, deflate, br",
        `Host: ${replay.host}`,
        "Connection: close",
      ],
      body,
    ),
  );
  expect(made.status).toBe(201);
  const push = made.object();
  expect(push).toMatchObject({ deletable_by_viewer: true, retrieval_step: true });
  for (const key of ["expire_after_days", "expire_after_views", "days_remaining", "views_remaining", "url_token"]) {
    expect([key, Boolean(push[key])]).toEqual([key, true]);
  }
  const opened = await replay.send(wire([`GET /p/${push.url_token}.json HTTP/1.1`, `Host: ${replay.host}`]));
  expect(opened.object().payload).toBe("a b&c+d%");
});
