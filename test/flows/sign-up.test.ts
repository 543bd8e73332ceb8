import { rmSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { makeDataDir } from "../support/domain.ts";
import { comparable, isSignedIn, type Sender, visit } from "../support/form-requests.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";

const ada = "ada@example.com";

async function startWithUser(environment: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const fixture = await startTestApp({ environment });
  await fixture.app.domain.accounts.createUser({ email: "admin@example.com", password, admin: true });
  return fixture;
}

const signUp = (fixture: TestApp, email = ada, more: Readonly<Record<string, string>> = {}, sender?: Sender) =>
  visit(fixture, "/users/sign_up", { email, password, ...more }, sender);
const signIn = (fixture: TestApp, email = ada, as = password) =>
  visit(fixture, "/users/sign_in", { email, password: as });
const find = (fixture: TestApp, email: string) => fixture.app.domain.accounts.findUserByEmail(email);
const confirm = (fixture: TestApp, link: URL) =>
  visit(fixture, "/users/confirmation", { confirmation_token: link.searchParams.get("confirmation_token") ?? "" });
const pathOf = (link: URL) => `${link.pathname}${link.search}`;

describe("with account emails", () => {
  async function startMailing(environment: Readonly<Record<string, string>> = {}) {
    const sink = await startMailSink();
    return { sink, fixture: await startWithUser({ ...sink.environment, ...environment }) };
  }

  test("an account waits for the button behind the mailed link; opening the link confirms nothing", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    const asked = await signUp(fixture);
    expect(asked).toMatchObject({ status: 200, cookie: "" });
    expect(asked.body).toContain(ada);
    const link = linkIn(await started.sink.next(ada), "/users/confirmation");

    const early = await signIn(fixture);
    expect(early).toMatchObject({ status: 401, cookie: "" });
    expect(early.body).toContain("/users/confirmation/new");
    expect(early).toEqual(await signIn(fixture, ada, "wrong wrong wrong"));

    for (let at = 0; at < 3; at += 1) expect((await visit(fixture, pathOf(link))).status).toBe(200);
    expect((await find(fixture, ada))?.confirmedAt).toBeNull();
    expect(await confirm(fixture, link)).toMatchObject({ status: 303, location: "/users/sign_in?done=confirmed" });
    expect(await isSignedIn(fixture, (await signIn(fixture)).cookie)).toBe(true);
  });

  test("a confirmation link works once, and for one day", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    await signUp(fixture);
    const link = linkIn(await started.sink.next(ada), "/users/confirmation");
    fixture.clock.advance(dayMs);
    expect((await visit(fixture, pathOf(link))).status).toBe(404);
    expect((await confirm(fixture, link)).status).toBe(404);
    await visit(fixture, "/users/confirmation/new", { email: ada });
    const again = linkIn(await started.sink.next(ada), "/users/confirmation");
    expect((await confirm(fixture, again)).status).toBe(303);
    expect((await confirm(fixture, again)).status).toBe(404);
    for (const token of ["", "x", "a".repeat(43), "a".repeat(100_000)]) {
      expect((await visit(fixture, "/users/confirmation", { confirmation_token: token })).status).toBe(404);
    }
  });

  test("user enumeration: a taken address gets the answer of a free one, and its owner an email", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    const answerTo = async (email: string) => comparable(await signUp(fixture, email), email);
    const free = await answerTo("somebody@example.com");
    expect(await answerTo("admin@example.com")).toEqual(free);
    const mail = await started.sink.next("admin@example.com");
    expect(mail.text).not.toContain("confirmation_token");
    expect(await signIn(fixture, "admin@example.com", password)).toMatchObject({ status: 303 });
  });

  test("signing up with a taken address does not change its account", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    await signUp(fixture, "admin@example.com", { password: "a stranger's password" });
    await started.sink.next("admin@example.com");
    expect((await signIn(fixture, "admin@example.com", "a stranger's password")).status).toBe(401);
    expect((await signIn(fixture, "admin@example.com")).status).toBe(303);
  });

  test("an account from before emails were on keeps its password when somebody signs up with its address", async () => {
    const dataDir = makeDataDir();
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const before = await startTestApp({ dataDir });
    await before.app.domain.accounts.createUser({ email: "admin@example.com", password, admin: true });
    expect((await signUp(before)).status).toBe(303);
    await before[Symbol.asyncDispose]();
    const sink = await startMailSink();
    await using fixture = await startTestApp({ dataDir, environment: sink.environment });
    await signUp(fixture, ada, { password: "a stranger's password" });
    const mail = await sink.next(ada);
    expect(mail.text).not.toContain("confirmation_token");
    expect((await signIn(fixture, ada, "a stranger's password")).status).toBe(401);
  });

  test("a stranger who signed up first with an address does not set its owner's password", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    await signUp(fixture, ada, { password: "a stranger's password" });
    const strangers = linkIn(await started.sink.next(ada), "/users/confirmation");
    await signUp(fixture);
    const mine = linkIn(await started.sink.next(ada), "/users/confirmation");
    expect((await confirm(fixture, mine)).status).toBe(303);
    expect((await signIn(fixture, ada, "a stranger's password")).status).toBe(401);
    expect((await signIn(fixture)).status).toBe(303);
    expect((await confirm(fixture, strangers)).status).toBe(404);
    expect((await signIn(fixture)).status).toBe(303);
  });

  test("requesting another confirmation always gets the same answer, and sends it only to a waiting account", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    await signUp(fixture);
    await started.sink.next(ada);
    const ask = async (email: string) => comparable(await visit(fixture, "/users/confirmation/new", { email }), email);
    const answers = [await ask(ada), await ask("nobody@example.com"), await ask("admin@example.com")];
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
    expect(linkIn(await started.sink.next(ada), "/users/confirmation").search).not.toBe("");
    expect(started.sink.messages().map(({ recipients }) => recipients)).toEqual([[ada], [ada]]);
    const { accounts, mail } = fixture.app.domain;
    await accounts.setDisabled((await find(fixture, ada))?.id ?? 0, true, {
      userId: null,
      email: "shell",
      address: "",
    });
    expect(await ask(ada)).toEqual(answers[0]);
    expect(await mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  });

  test("a mailbox cannot be flooded with confirmations", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    const answers = [];
    for (let at = 0; at < 12; at += 1) {
      answers.push(await signUp(fixture, ada, {}, { address: `192.0.2.${at + 1}` }));
    }
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    await expect.poll(() => fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
    expect(started.sink.messages().length).toBeLessThanOrEqual(5);
  });

  test.each([
    "ada@example.com\r\nBcc: eve@example.com",
    "ada@example.com\nSubject: hello",
    "ada@example.com%0d%0aBcc:eve@example.com",
    '"ada\r\nBcc: eve@example.com"@example.com',
    "ada@example.com, eve@example.com",
    "Ada <ada@example.com>",
  ])("email header injection: %j is not an address", async (email) => {
    const started = await startMailing();
    await using fixture = started.fixture;
    const refused = await signUp(fixture, email);
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('id="email_problem"');
    expect(await fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  });

  test("unconfirmed sign-ups are removed after a week; confirmed accounts stay", async () => {
    const started = await startMailing();
    await using fixture = started.fixture;
    await signUp(fixture);
    await signUp(fixture, "eve@example.com");
    await confirm(fixture, linkIn(await started.sink.next("eve@example.com"), "/users/confirmation"));
    fixture.clock.advance(7 * dayMs + hourMs);
    await fixture.app.domain.accounts.removeAbandonedLinks(100);
    expect(await find(fixture, ada)).toBeUndefined();
    expect(await find(fixture, "eve@example.com")).toBeDefined();
    expect(await find(fixture, "admin@example.com")).toBeDefined();
  });
});

describe("without account emails", () => {
  test("signing up signs in with a new session", async () => {
    await using fixture = await startWithUser();
    const made = await signUp(fixture);
    expect(made).toMatchObject({ status: 303, location: "/" });
    expect(await isSignedIn(fixture, made.cookie)).toBe(true);
  });

  test("no account waits for a confirmation that cannot be sent", async () => {
    await using fixture = await startWithUser();
    const page = await fixture.server.inject({ url: "/users/confirmation/new" });
    expect([page.statusCode, page.body.includes(en.entry.confirmation.noMail)]).toEqual([200, true]);
    expect(page.body).not.toContain('name="email"');
    const asked = await visit(fixture, "/users/confirmation/new", { email: "admin@example.com" });
    expect([asked.status, asked.body.includes(en.entry.confirmation.noMail)]).toEqual([403, true]);
  });

  test("people whose address must be confirmed without any email are sent to an administrator", async () => {
    await using fixture = await startWithUser({ PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" });
    const { noMail, unavailable } = en.entry.confirmation;
    const { body } = await fixture.server.inject({ url: "/users/confirmation/new" });
    expect([body.includes(noMail), body.includes(unavailable)]).toEqual([false, true]);
    const refused = await signIn(fixture);
    expect([refused.status, refused.body.includes(unavailable)]).toEqual([401, true]);
  });

  test("the page promises files only where they can be pushed", async () => {
    const { lead, leadWithoutFiles } = en.entry.signUp;
    for (const [setting, expected] of [
      ["true", [true, false]],
      ["false", [false, true]],
    ] as const) {
      await using fixture = await startWithUser({ PWP__ENABLE_FILE_PUSHES: setting });
      const { body } = await fixture.server.inject({ url: "/users/sign_up" });
      expect([body.includes(lead), body.includes(leadWithoutFiles)]).toEqual(expected);
    }
  });

  test("a taken address is reported beside its field", async () => {
    await using fixture = await startWithUser();
    const refused = await signUp(fixture, "admin@example.com");
    expect(refused).toMatchObject({ status: 422, cookie: "" });
    expect(refused.body).toContain('id="email_problem"');
    expect(refused.body).not.toContain(password);
  });
});

test("mass assignment: fields that the form does not have give no further rights", async () => {
  await using fixture = await startWithUser();
  await signUp(fixture, ada, {
    admin: "true",
    "user[admin]": "true",
    is_admin: "1",
    role: "admin",
    id: "1",
    user_id: "1",
    created_at: "0",
    confirmed_at: "1",
    confirmed: "true",
    disabled_at: "1",
    password_hash: "x",
    language: "ja",
    boot_code: "x",
  });
  expect(await find(fixture, ada)).toMatchObject({ admin: false, disabledAt: null, confirmedAt: null, language: "en" });
});

test("sign-ups can be disabled: a message, no form, no link, and no account", async () => {
  await using fixture = await startWithUser({ PWP__DISABLE_SIGNUPS: "true" });
  const page = await visit(fixture, "/users/sign_up");
  expect(page.status).toBe(403);
  expect(page.body).not.toContain('name="password"');
  expect((await signUp(fixture)).status).toBe(403);
  expect(await find(fixture, ada)).toBeUndefined();
  expect((await visit(fixture, "/users/sign_in")).body).not.toContain("/users/sign_up");
});

test("only addresses that fit the pattern may sign up, whatever their case", async () => {
  await using fixture = await startWithUser({ PWP__SIGNUP_EMAIL_REGEXP: "\\A[^@\\s]+@corp\\.example\\z" });
  const refused = await signUp(fixture, "ada@corp.example.evil.example");
  expect(refused.status).toBe(422);
  expect(refused.body).toContain("does not allow accounts with this email address");
  expect((await signUp(fixture, "Ada@CORP.example")).status).toBe(303);
});

test.each([
  ["eleven char", "at least"],
  ["password1234", "easy to guess"],
  ["Qwertyuiop12", "easy to guess"],
  ["passwordpassword", "easy to guess"],
  ["xqxqxqxqxqxq", "repeats"],
  ["abcdefghijklmn", "sequence of"],
  ["ada@example.com", "your email"],
])("the password %j is refused with its reason", async (candidate, reason) => {
  await using fixture = await startWithUser();
  const refused = await signUp(fixture, ada, { password: candidate });
  expect(refused.status).toBe(422);
  expect(refused.body).toContain('id="password_problem"');
  expect(refused.body.toLowerCase()).toContain(reason);
  expect(refused.body).not.toContain(`value="${candidate}"`.replace(ada, "\0"));
  expect(refused.body).toContain(`value="${ada}"`);
  expect(await find(fixture, ada)).toBeUndefined();
});

test("one client cannot fill the domain with accounts", async () => {
  await using fixture = await startWithUser();
  const statuses = [];
  for (let at = 0; at < 103; at += 1) {
    // No more than the password hashes that one client may cause in a minute.
    if (at % 20 === 0) fixture.clock.advance(minuteMs);
    statuses.push((await signUp(fixture, `user${at}@example.com`)).status);
  }
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
  expect((await signUp(fixture, ada, {}, { address: "198.51.100.1" })).status).toBe(303);
});
