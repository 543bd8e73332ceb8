import { rmSync } from "node:fs";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { readRows } from "../support/engine-database.ts";
import { encode, type Fields, sendForm } from "../support/every-form.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { createOwnedPushes, type OwnedPushes } from "../support/owned-pushes.ts";

type Environment = Readonly<Record<string, string>>;

/** A server with a user, stopped and started again with these settings, as an operator does it. */
async function restartWith(environment: Environment, withFactors = false) {
  const first = await startTestApp();
  const { dataDir, clock } = first;
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const ownedPushes = await createOwnedPushes(first, withFactors);
  await first.app.close();
  const fixture = await startTestApp({ environment, dataDir, clock });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return { fixture, ownedPushes };
}

const post = ({ server }: TestApp, url: string, fields: Fields, cookie?: string) =>
  sendForm(server, url, encode(fields, "urlencoded"), cookie === undefined ? {} : { cookie });
const get = ({ server }: TestApp, url: string, headers: Environment = {}) => server.inject({ url, headers });
const bearer = ({ apiToken }: OwnedPushes) => ({ authorization: `Bearer ${apiToken}` });
const users = async ({ app }: TestApp) => (await readRows(app.domain.db, "SELECT id FROM users")).length;

afterEach(() => expect.hasAssertions());

test("PWP__DISABLE_LOGINS: all sign-in routes are closed and sessions refused; API tokens and recipients are unaffected", async () => {
  const { fixture, ownedPushes } = await restartWith({ PWP__DISABLE_LOGINS: "true" });
  const cookie = ownedPushes.person.cookie();
  for (const [url, fields] of [
    ["/users/sign_in", { email: ownedPushes.email, password }],
    ["/users/sign_up", { email: "new@example.com", password }],
    ["/users/password/new", { email: ownedPushes.email }],
    ["/users/password/edit", { reset_password_token: "a".repeat(43), password }],
    ["/users/sign_in/passkey/options", {}],
    ["/users/sign_in/passkey", { passkey: "{}" }],
    ["/first_run", { boot_code: "x", email: "new@example.com", password }],
  ] as const) {
    const answer = await post(fixture, url, fields);
    expect([url, answer.statusCode, answer.cookies]).toEqual([url, 403, []]);
  }
  for (const { method, pattern, access } of fixture.app.routes) {
    if (method !== "GET" || !["page_session", "page_requester", "page_admin"].includes(access)) continue;
    const url = pattern.replace(/:\w+/, ownedPushes.urlTokens[0] ?? "1");
    const answer = await get(fixture, url, { cookie });
    expect([url, answer.statusCode]).toEqual([url, 303]);
    expect(ownedPushes.canaries.namesIn(answer.rawPayload)).toEqual([]);
  }
  expect(await users(fixture)).toBe(1);
  expect((await get(fixture, "/api/v2/pushes/active", bearer(ownedPushes))).statusCode).toBe(200);
  expect((await get(fixture, `/p/${ownedPushes.urlTokens[0]}/r`)).statusCode).toBe(200);
  expect((await get(fixture, "/")).body).not.toContain("/users/sign_in");
});

test("PWP__DISABLE_SIGNUPS: no account can be created, and existing users can sign in", async () => {
  const { fixture, ownedPushes } = await restartWith({ PWP__DISABLE_SIGNUPS: "true" });
  expect((await get(fixture, "/users/sign_up")).statusCode).toBe(403);
  expect((await post(fixture, "/users/sign_up", { email: "new@example.com", password })).statusCode).toBe(403);
  expect((await post(fixture, "/first_run", { boot_code: "x", email: "new@example.com", password })).statusCode).toBe(
    303,
  );
  expect((await get(fixture, "/users/sign_in")).body).not.toContain("/users/sign_up");
  expect(await users(fixture)).toBe(1);
  expect((await post(fixture, "/users/sign_in", { email: ownedPushes.email, password })).headers.location).toBe("/");
});

test("PWP__SIGNUP_EMAIL_REGEXP: an address that only contains an allowed one cannot get an account on any route", async () => {
  const { fixture, ownedPushes } = await restartWith({ PWP__SIGNUP_EMAIL_REGEXP: "\\A[^@]+@corp\\.example\\z" });
  const cookie = ownedPushes.person.cookie();
  for (const email of ["a@corp.example.evil.example", "a@evil.example", "a@xcorp.example", "a@corp.example\n.evil"]) {
    expect([email, (await post(fixture, "/users/sign_up", { email, password })).statusCode]).toEqual([email, 422]);
    const moving = await post(fixture, "/users/edit/email", { email, password }, cookie);
    expect([email, moving.statusCode]).toEqual([email, 422]);
  }
  expect(await users(fixture)).toBe(1);
  // Accounts that existed before the setting remain.
  expect((await post(fixture, "/users/sign_in", { email: ownedPushes.email, password })).statusCode).toBe(303);
  expect((await post(fixture, "/users/sign_up", { email: "ada@corp.example", password })).statusCode).toBe(303);
  expect(await users(fixture)).toBe(2);
});

test("PWP__REQUIRE_MFA: existing sessions and tokens need a factor first; users with a factor are unaffected", async () => {
  const without = await restartWith({ PWP__REQUIRE_MFA: "true" });
  const cookie = without.ownedPushes.person.cookie();
  expect((await get(without.fixture, "/users/token", { cookie })).headers.location).toBe("/users/factors");
  expect((await get(without.fixture, "/api/v2/pushes/active", bearer(without.ownedPushes))).statusCode).toBe(403);
  const made = await post(without.fixture, "/p", { "push[payload]": "x" }, cookie);
  // A redirect would lose what was typed.
  expect(made.statusCode).toBe(403);
  expect(made.body).toContain('href="/users/factors"');

  const having = await restartWith({ PWP__REQUIRE_MFA: "true" }, true);
  const theirs = having.ownedPushes.person.cookie();
  expect((await get(having.fixture, "/users/token", { cookie: theirs })).statusCode).toBe(200);
  expect((await get(having.fixture, "/api/v2/pushes/active", bearer(having.ownedPushes))).statusCode).toBe(200);
});

test("PWP__ENABLE_USER_ACCOUNT_EMAILS: on, new accounts must confirm by email; off, signing up signs in without an email", async () => {
  const sink = await startMailSink();
  const on = await restartWith(sink.environment);
  const asked = await post(on.fixture, "/users/sign_up", { email: "new@example.com", password });
  expect([asked.statusCode, asked.cookies]).toEqual([200, []]);
  expect((await sink.next("new@example.com")).text).toContain("/users/confirmation");
  expect((await post(on.fixture, "/users/sign_in", { email: "new@example.com", password })).statusCode).toBe(401);

  const before = sink.messages().length;
  const off = await restartWith({ ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false" });
  const entered = await post(off.fixture, "/users/sign_up", { email: "new@example.com", password });
  expect([entered.statusCode, entered.cookies.length]).toEqual([303, 1]);
  expect((await post(off.fixture, "/users/password/new", { email: "new@example.com" })).statusCode).toBe(403);
  expect(sink.messages().length).toBe(before);
});

describe("a boolean setting fails closed", () => {
  const names = ["PWP__DISABLE_SIGNUPS", "PWP__DISABLE_LOGINS", "PWP__REQUIRE_MFA"];
  const load = (environment: Environment) => loadConfig({ DATA_DIR: "/nowhere", ...environment }, () => "");

  test.each(names)("%s: a value that is not a boolean fails the start instead of counting as false", (name) => {
    for (const value of ["enabled", "ture", "2", "y e s", "null", "-1", "TRUE", "False", "1", "0", "yes", "on", ""]) {
      expect([value, load({ [name]: value }).ok]).toEqual([value, false]);
    }
    const result = load({ [name]: "true" });
    expect(result.ok && Object.values(result.config.accounts)).toContain(true);
  });

  test("PWP__SIGNUP_EMAIL_REGEXP: an invalid pattern fails the start instead of allowing every address", () => {
    for (const pattern of ["(", "[a-", "*", "(a)\\1"]) {
      expect([pattern, load({ PWP__SIGNUP_EMAIL_REGEXP: pattern }).ok]).toEqual([pattern, false]);
    }
  });
});
