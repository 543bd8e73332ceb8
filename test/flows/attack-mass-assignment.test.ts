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

/** Columns that no form has, by their names in rows, in other servers, and by guesses. */
const assigned: Fields = {
  admin: "true",
  is_admin: "1",
  role: "admin",
  roles: "admin",
  id: "2",
  user_id: "2",
  owner_id: "2",
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
  expires_at: "9999999999999",
  views: "-5",
  url_token: "chosen",
  link_check: "x",
  ended_at: "",
  expired: "false",
  kind_name: "url",
};
const nestedIn = (outer: string): Fields =>
  Object.fromEntries(Object.entries(assigned).map(([name, value]) => [`${outer}[${name}]`, value]));
const everything: Fields = {
  ...assigned,
  ...nestedIn("user"),
  ...nestedIn("push"),
  ...nestedIn("token"),
  ...nestedIn("account"),
  "__proto__[admin]": "true",
  "constructor[prototype][admin]": "true",
  ...everyField,
};

interface Fixture {
  readonly fixture: TestApp;
  readonly cookie: string;
}

/** Bob is the second user, whose id is in the fields. */
async function open(environment: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const fixture = await startTestApp({ environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const person = await signInClient(fixture, ada, { join: true });
  await signInClient(fixture, bob, { join: true });
  return { fixture, cookie: person.cookie() };
}

interface Rows {
  readonly users: readonly unknown[];
  readonly tokens: readonly unknown[];
  readonly pushes: readonly unknown[];
}

async function rowsOf({ app }: TestApp): Promise<Rows> {
  const all = (text: string) => readRows(app.domain.db, text);
  return {
    users: await all(
      `SELECT id, admin, created_at, CASE WHEN confirmed_at IS NULL THEN 1 ELSE 0 END AS waits, disabled_at,
         CASE WHEN factor_failures >= 0 THEN 1 ELSE 0 END AS counts
       FROM users ORDER BY id`,
    ),
    tokens: await all("SELECT DISTINCT user_id, scopes, revoked_at, last_used_at, expires_at FROM api_tokens"),
    pushes: await all("SELECT DISTINCT owner_id, views, expire_after_days, ended_at FROM pushes"),
  };
}

/** Sends the form to every page. @returns how many requests were not refused. */
async function sendEverywhere({ fixture, cookie }: Fixture, encoding: Encoding, signedOut = false): Promise<number> {
  let taken = 0;
  for (const url of formPages(fixture.app.routes)) {
    const body = encode(everything, encoding);
    const answer = await sendForm(fixture.server, url, body, signedOut ? {} : { cookie });
    expect([url, answer.statusCode < 500], answer.body).toEqual([url, true]);
    if (answer.statusCode < 400) taken += 1;
  }
  return taken;
}

const now = Date.UTC(2026, 0, 15, 12);
const user = (id: number, more = {}) => ({
  id,
  admin: 0,
  created_at: now,
  waits: 0,
  disabled_at: null,
  counts: 1,
  ...more,
});

describe("mass assignment: fields that are not in the form are ignored", () => {
  test.each(encodings)("in every form of a signed-in user, as %s", async (encoding) => {
    const opened = await open();
    const before = await rowsOf(opened.fixture);
    const taken = await sendEverywhere(opened, encoding);
    const after = await rowsOf(opened.fixture);
    if (encoding === "json") {
      // No page accepts JSON, and pages that do not read a body changed nothing.
      expect(after).toEqual(before);
      return;
    }
    // Proves that enough requests reached their handlers.
    expect(taken).toBeGreaterThan(10);
    expect(after).toEqual({
      // The first user's address was changed without an email, so it is not confirmed.
      users: [user(1, { waits: 1 }), user(2), ...(after.users.length > 2 ? [user(3, { waits: 1 })] : [])],
      tokens: [
        { user_id: 1, scopes: "create", revoked_at: null, last_used_at: null, expires_at: now + 7 * 24 * 3_600_000 },
      ],
      pushes: [{ owner_id: 1, views: 0, expire_after_days: 3, ended_at: null }],
    });
    await signInClient(opened.fixture, bob);
  });

  test.each(encodings)("in every form without a session, with account emails, as %s", async (encoding) => {
    const sink = await startMailSink();
    const opened = await open(sink.environment);
    const taken = await sendEverywhere(opened, encoding, true);
    const { users, tokens, pushes } = await rowsOf(opened.fixture);
    expect(tokens).toEqual([]);
    if (encoding === "json") {
      expect([users, pushes]).toEqual([[user(1), user(2)], []]);
      return;
    }
    expect(taken).toBeGreaterThan(3);
    expect(users).toEqual([user(1), user(2), user(3, { waits: 1 })]);
    expect(pushes).toEqual([{ owner_id: null, views: 0, expire_after_days: 3, ended_at: null }]);
  });

  test.each(encodings)("in a push created with the API, as %s", async (encoding) => {
    const { fixture } = await open();
    const { token } = await fixture.app.domain.accounts.createToken(1, "test");
    const { type, payload } = encode(everything, encoding);
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
    const { users, pushes } = await rowsOf(fixture);
    expect(users).toEqual([user(1), user(2)]);
    expect(pushes).toEqual(
      expect.arrayContaining(
        [1, null].map((owner_id) => ({ owner_id, views: 0, expire_after_days: 3, ended_at: null })),
      ),
    );
    expect(pushes).toHaveLength(2);
  });
});

test("mass assignment: the link of a password reset changes only the account that it was sent to", async () => {
  const sink = await startMailSink();
  const { fixture } = await open(sink.environment);
  const { accounts } = fixture.app.domain;
  await accounts.requestReset({
    email: ada,
    language: "en",
    client: { throttleKey: "192.0.2.1", address: "192.0.2.1", userAgent: "" },
  });
  const token = /reset_password_token=([\w-]{43})/.exec((await sink.next(ada)).text ?? "")?.[1] ?? "";
  const fields = { ...everything, email: bob, reset_password_token: token, password: "marble-otter-lantern" };
  const answer = await sendForm(fixture.server, "/users/password/edit", encode(fields, "urlencoded"), {});
  expect(answer.statusCode).toBe(303);
  expect((await rowsOf(fixture)).users).toEqual([user(1), user(2)]);
  await signInClient(fixture, bob);
  await expect(signInClient(fixture, ada)).rejects.toThrow("401");
  expect(password).not.toBe(fields.password);
});
