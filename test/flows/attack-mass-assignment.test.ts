import { describe, expect, onTestFinished, test } from "vitest";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { readRows } from "../support/engine-database.ts";
import {
  type Encoding,
  encode,
  encodings,
  everyField,
  type Fields,
  formPages,
  sendForm,
} from "../support/every-form.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const bob = "bob@example.com";

/** Columns that no form has, by their names in rows, in other servers, and by guesses. @param bobId of another user. */
const assigned = (bobId: number): Fields => ({
  admin: "true",
  is_admin: "1",
  role: "admin",
  roles: "admin",
  id: String(bobId),
  user_id: String(bobId),
  owner_id: String(bobId),
  confirmed_at: "1",
  confirmed: "true",
  disabled_at: "1",
  unconfirmed_email: bob,
  created_at: "0",
  updated_at: "0",
  password_hash: "x",
  encrypted_password: "x",
  push_defaults: "{}",
  factor_failures: "-9",
  last_step: "0",
  waits_for_factor: "0",
  session_id: "1",
  hasSecondFactor: "true",
  has_second_factor: "true",
  otp_secret: "x",
  scopes: "create read expire admin",
  digest: "x",
  revoked_at: "",
  last_used_at: "0",
  // A push may choose it, an API token may not: these are the three days that the form of a push chooses anyway.
  expires_at: "2026-01-18T12:00:00Z",
  views: "-5",
  url_token: "chosen",
  link_check: "x",
  ended_at: "",
  expired: "false",
  kind_name: "url",
});
const nestedIn = (outer: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${outer}[${name}]`, value]));
const everything = (bobId: number): Fields => ({
  ...assigned(bobId),
  ...nestedIn("user", assigned(bobId)),
  ...nestedIn("push", assigned(bobId)),
  ...nestedIn("token", assigned(bobId)),
  ...nestedIn("account", assigned(bobId)),
  "__proto__[admin]": "true",
  "constructor[prototype][admin]": "true",
  ...everyField,
});

interface Fixture {
  readonly fixture: TestApp;
  readonly cookie: string;
  readonly adaId: number;
  readonly bobId: number;
}

/** Bob is the user whose id is in the fields. */
async function open(environment: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const fixture = await startTestApp({ environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const person = await signInClient(fixture, ada, { join: true });
  await signInClient(fixture, bob, { join: true });
  const { accounts } = fixture.app.domain;
  const [adaId = 0, bobId = 0] = (await Promise.all([ada, bob].map(accounts.findUserByEmail))).map((user) => user?.id);
  return { fixture, cookie: person.cookie(), adaId, bobId };
}

interface Rows {
  readonly users: readonly unknown[];
  readonly tokens: readonly unknown[];
  readonly pushes: readonly unknown[];
}

async function rowsOf({ fixture: { app }, adaId, bobId }: Fixture): Promise<Rows> {
  const names = new Map([
    [adaId, "ada"],
    [bobId, "bob"],
  ]);
  const nameOf = (id: number | null) => (id === null ? null : (names.get(Number(id)) ?? "new"));
  const all = async (text: string) =>
    (await readRows<{ who: number | null }>(app.domain.db, text))
      .map((row) => ({ ...row, who: nameOf(row.who) }))
      .sort((one, other) => String(one.who).localeCompare(String(other.who)));
  return {
    users: await all(
      `SELECT id AS who, admin, created_at, CASE WHEN confirmed_at IS NULL THEN 1 ELSE 0 END AS waits, disabled_at,
         CASE WHEN factor_failures >= 0 THEN 1 ELSE 0 END AS counts
       FROM users`,
    ),
    tokens: await all("SELECT DISTINCT user_id AS who, scopes, revoked_at, last_used_at, expires_at FROM api_tokens"),
    pushes: await all("SELECT DISTINCT owner_id AS who, views, expire_after_days, ended_at FROM pushes"),
  };
}

/** Sends the form to every page. @returns how many requests were not refused. */
async function sendEverywhere(
  { fixture, cookie, bobId }: Fixture,
  encoding: Encoding,
  signedOut = false,
): Promise<number> {
  let taken = 0;
  for (const url of formPages(fixture.app.routes)) {
    const body = encode(everything(bobId), encoding);
    const answer = await sendForm(fixture.server, url, body, signedOut ? {} : { cookie });
    expect([url, answer.statusCode < 500], answer.body).toEqual([url, true]);
    if (answer.statusCode < 400) taken += 1;
  }
  return taken;
}

const now = Date.UTC(2026, 0, 15, 12);
const user = (who: string, more = {}) => ({
  who,
  admin: 0,
  created_at: now,
  waits: 0,
  disabled_at: null,
  counts: 1,
  ...more,
});

const unchanged = [user("ada"), user("bob")];

describe("mass assignment: fields that are not in the form are ignored", () => {
  test.each(encodings)("in every form of a signed-in user, as %s", async (encoding) => {
    const opened = await open();
    const before = await rowsOf(opened);
    const taken = await sendEverywhere(opened, encoding);
    const after = await rowsOf(opened);
    if (encoding === "json") {
      // No page accepts JSON, and pages that do not read a body changed nothing.
      expect(after).toEqual(before);
      return;
    }
    // Proves that enough requests reached their handlers.
    expect(taken).toBeGreaterThan(10);
    expect(after).toEqual({
      // The first user's address was changed without an email, so it is not confirmed.
      users: [user("ada", { waits: 1 }), user("bob"), ...(after.users.length > 2 ? [user("new", { waits: 1 })] : [])],
      tokens: [
        { who: "ada", scopes: "create", revoked_at: null, last_used_at: null, expires_at: now + 7 * 24 * 3_600_000 },
      ],
      pushes: [{ who: "ada", views: 0, expire_after_days: 3, ended_at: null }],
    });
    await signInClient(opened.fixture, bob);
  });

  test.each(encodings)("in every form without a session, with account emails, as %s", async (encoding) => {
    const sink = await startMailSink();
    const opened = await open(sink.environment);
    const taken = await sendEverywhere(opened, encoding, true);
    const { users, tokens, pushes } = await rowsOf(opened);
    expect(tokens).toEqual([]);
    if (encoding === "json") {
      expect([users, pushes]).toEqual([unchanged, []]);
      return;
    }
    expect(taken).toBeGreaterThan(3);
    expect(users).toEqual([user("ada"), user("bob"), user("new", { waits: 1 })]);
    expect(pushes).toEqual([{ who: null, views: 0, expire_after_days: 3, ended_at: null }]);
  });

  test.each(encodings)("in a push created with the API, as %s", async (encoding) => {
    const opened = await open();
    const { fixture, adaId, bobId } = opened;
    const { token } = await fixture.app.domain.accounts.createToken(adaId, "test");
    const { type, payload } = encode(everything(bobId), encoding);
    for (const headers of [{ authorization: `Bearer ${token}` }, {}]) {
      const answer = await fixture.server.inject({
        method: "POST",
        url: "/api/v2/pushes",
        payload,
        headers: { "content-type": type, ...headers },
      });
      expect(answer.statusCode, answer.body).toBe(201);
      expect(answer.json()).toMatchObject({ expired: false, deleted: false, views_remaining: 5 });
      expect(answer.json().url_token).toMatch(/^[a-z0-9]{32}$/);
    }
    const { users, pushes } = await rowsOf(opened);
    expect(users).toEqual(unchanged);
    expect(pushes).toEqual(
      expect.arrayContaining(["ada", null].map((who) => ({ who, views: 0, expire_after_days: 3, ended_at: null }))),
    );
    expect(pushes).toHaveLength(2);
  });
});

test("mass assignment: the link of a password reset changes only the account that it was sent to", async () => {
  const sink = await startMailSink();
  const opened = await open(sink.environment);
  const { fixture, bobId } = opened;
  const { accounts } = fixture.app.domain;
  await accounts.requestReset({
    email: ada,
    language: "en",
    client: { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "" },
  });
  const token = /reset_password_token=([\w-]{43})/.exec((await sink.next(ada)).text ?? "")?.[1] ?? "";
  const fields = { ...everything(bobId), email: bob, reset_password_token: token, password: "marble-otter-lantern" };
  const answer = await sendForm(fixture.server, "/users/password/edit", encode(fields, "urlencoded"), {});
  expect(answer.statusCode).toBe(303);
  expect((await rowsOf(opened)).users).toEqual(unchanged);
  await signInClient(fixture, bob);
  await expect(signInClient(fixture, ada)).rejects.toThrow("401");
  expect(password).not.toBe(fields.password);
});
