import { describe, expect, test } from "vitest";
import { replayServer, wire } from "../../support/replay.ts";

/** .NET's HttpClient, on API v1: a form whose values are not percent-encoded, with booleans as .NET writes them. */
const replay = replayServer();

const request = (line: string, more: readonly string[] = []) => [`${line} HTTP/1.1`, `Host: ${replay.host}`, ...more];

const make = (body: string, more: readonly string[] = []) =>
  replay.send(wire(request("POST /p.json", [...more, "Content-Type: application/x-www-form-urlencoded"]), body));

test("form values that are not percent-encoded are read as they are", async () => {
  const payload = 'P@ss wörd/€<>"[]{}|^`\\~!*()=?:;,';
  const made = await make(
    `password[payload]=${payload}&password[expire_after_days]=3&password[expire_after_views]=2` +
      "&password[deletable_by_viewer]=True&password[retrieval_step]=False",
  );
  expect(made.status).toBe(201);
  expect(made.object()).toMatchObject({ deletable_by_viewer: true, retrieval_step: false, expire_after_days: 3 });
  const opened = await replay.send(wire(request(`GET /p/${made.object().url_token}.json`)));
  expect(opened.object().payload).toBe(payload);
});

test("a content type with a charset and Expect: 100-continue are accepted", async () => {
  const lines = request("POST /p.json", [
    "Content-Type: application/x-www-form-urlencoded; charset=utf-8",
    "Expect: 100-continue",
  ]);
  const made = await replay.send(wire(lines, "password[payload]=x&password[passphrase]=open sésame"));
  expect([made.status, made.object().passphrase]).toEqual([201, "open sésame"]);
  const passphrase = encodeURIComponent("open sésame");
  const opened = await replay.send(wire(request(`GET /p/${made.object().url_token}.json?passphrase=${passphrase}`)));
  expect(opened.object().payload).toBe("x");
});

test("a percent sign without two hexadecimal digits is refused, because a guess could store another secret", async () => {
  const answer = await make("password[payload]=100%sure");
  expect([answer.status, answer.object()]).toEqual([400, { error: expect.any(String) }]);
});

describe("integers, booleans and dates have the types of the client's classes", () => {
  test.each(["POST", "GET", "DELETE"])("in the response to %s", async (method) => {
    const made = await make("password[payload]=x&password[deletable_by_viewer]=True");
    const line = `${method} /p/${made.object().url_token}.json`;
    const push = method === "POST" ? made.object() : (await replay.send(wire(request(line)))).object();
    for (const key of ["expire_after_days", "expire_after_views", "days_remaining", "views_remaining"]) {
      expect([key, Number.isInteger(push[key])]).toEqual([key, true]);
    }
    for (const key of ["expired", "deleted", "deletable_by_viewer", "retrieval_step"]) {
      expect([key, typeof push[key]]).toEqual([key, "boolean"]);
    }
    for (const key of ["created_at", "updated_at"]) {
      expect(push[key]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    if (method === "DELETE") expect(push.expired_on).toMatch(/Z$/);
    else expect(push.expired_on).toBeNull();
  });
});
