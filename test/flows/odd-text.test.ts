import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { encode, encodings, everyField, formPages, sendForm } from "../support/every-form.ts";
import { signInClient } from "../support/signed-in-client.ts";

/** Text that one of the engines cannot store, or that cannot be encoded as UTF-8. */
const oddTexts = [
  ["NUL", "\0"],
  ["a lone surrogate", "\ud800"],
  ["the highest character", "\u{10ffff}"],
  ["a number beyond 64 bits", "99999999999999999999999999"],
] as const;

let fixture: TestApp;
let cookie: string;
let token: string;
beforeAll(async () => {
  fixture = await startTestApp({ environment: { PWP__ENABLE_LOGINS: "true", PWP__DISABLE_SIGNUPS: "false" } });
  token = await fixture.makeToken("owner@example.com", true);
  cookie = (await signInClient(fixture, "ada@example.com", { join: true })).cookie();
});
afterAll(async () => {
  expect(fixture.logLines.filter((line) => line.includes("unexpected_error"))).toEqual([]);
  await fixture[Symbol.asyncDispose]();
});

const freeTexts = [
  "email",
  "name",
  "networks",
  "push[name]",
  "push[payload]",
  "passphrase",
  "code",
  "token",
  "passkey",
];

test.each(freeTexts)("NUL in an otherwise valid form's field %s causes no server error", async (name) => {
  for (const page of formPages(fixture.app.routes)) {
    const body = encode({ ...everyField, [name]: `${everyField[name]}\0` }, "urlencoded");
    const { statusCode } = await sendForm(fixture.server, page, body, { cookie });
    expect(statusCode === 503 || statusCode < 500, `${statusCode} at ${page}`).toBe(true);
  }
});

describe.each(oddTexts)("%s", (_, odd) => {
  test.each(encodings)("in any field of any form (%s) causes no server error", async (encoding) => {
    const statuses = new Map<string, number>();
    for (const page of formPages(fixture.app.routes)) {
      for (const sender of [{ cookie }, {}]) {
        const fields = Object.fromEntries(Object.entries(everyField).map(([name, value]) => [name, `${value}${odd}`]));
        const { statusCode } = await sendForm(fixture.server, page, encode(fields, encoding), sender);
        statuses.set(`${page} ${"cookie" in sender}`, statusCode);
      }
    }
    expect([...statuses].filter(([, status]) => status >= 500)).toEqual([]);
    expect(statuses.size).toBeGreaterThan(20);
  });

  test("in a path, query or header gets at most a 404", async () => {
    const place = encodeURIComponent(odd.toWellFormed());
    const paths = fixture.app.routes
      .filter(({ method }) => method === "GET")
      .map(({ pattern }) => pattern.replace(/:\w+|\*/g, `a${place}`));
    for (const path of paths) {
      for (const who of [{ cookie }, { authorization: `Bearer ${token}` }, {}]) {
        const { statusCode } = await fixture.server.inject({
          method: "GET",
          url: `${path}?q=${place}&page=${place}&passphrase=${place}&state=${place}&code=${place}`,
          headers: { "x-push-passphrase": "x", "x-user-email": "ada@example.com", "x-user-token": "x\u00ff", ...who },
        });
        expect(statusCode === 503 || statusCode < 500, `${statusCode} at ${path}`).toBe(true);
      }
    }
  });

  test("in a push and its labels is stored unchanged or refused", async () => {
    for (const field of ["payload", "passphrase", "name", "note", "kind", "expire_after_days"]) {
      const push = { payload: "x", [field]: `a${odd}` };
      const { statusCode } = await fixture.server.inject({
        method: "POST",
        url: "/api/v2/pushes",
        payload: JSON.stringify({ push }),
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      });
      expect([201, 422], field).toContain(statusCode);
    }
  });
});
