import { expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { comparable, isSignedIn, type Sender, visit } from "../support/form-requests.ts";
import { signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";

async function startWithAda(environment: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const fixture = await startTestApp({ environment });
  await fixture.app.domain.accounts.createUser({ email: ada, password, admin: false });
  return fixture;
}

const signIn = (fixture: TestApp, more: Readonly<Record<string, string>> = {}, sender?: Sender) =>
  visit(fixture, "/users/sign_in", { email: ada, password, ...more }, sender);

test("session fixation: a sign-in starts a new session, and ends the browser's previous one", async () => {
  await using fixture = await startWithAda();
  const planted = `sealpush_session=${"a".repeat(43)}`;
  const first = await signIn(fixture, {}, { cookie: planted });
  expect(first.cookie).not.toBe(planted);
  expect(await isSignedIn(fixture, planted)).toBe(false);
  const second = await signIn(fixture, {}, { cookie: first.cookie });
  expect(second.cookie).not.toBe(first.cookie);
  expect(await isSignedIn(fixture, first.cookie)).toBe(false);
  expect(await isSignedIn(fixture, second.cookie)).toBe(true);
});

test("user enumeration: an unknown address, a disabled account and a wrong password get the same answer", async () => {
  await using fixture = await startWithAda();
  const { accounts } = fixture.app.domain;
  const off = await accounts.createUser({ email: "off@example.com", password, admin: false });
  await accounts.setDisabled(off.id, true, { userId: null, email: "shell", address: "" });
  const answerFor = async (email: string, as: string) =>
    comparable(await signIn(fixture, { email, password: as }), email);
  const wrong = await answerFor(ada, "wrong wrong wrong");
  expect(wrong.status).toBe(401);
  expect(await answerFor("nobody@example.com", password)).toEqual(wrong);
  expect(await answerFor("off@example.com", password)).toEqual(wrong);
  expect(await answerFor("no address", password)).toEqual(wrong);
});

test("brute force: after ten wrong passwords, simultaneous or not, the client has to wait; others can sign in", async () => {
  await using fixture = await startWithAda();
  const guesses = await Promise.all(
    Array.from({ length: 30 }, (_, at) => signIn(fixture, { password: `wrong guess ${at}` })),
  );
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
  const late = await signIn(fixture);
  expect(late).toMatchObject({ status: 429, cookie: "" });
  expect(Number(late.retryAfter)).toBeGreaterThan(0);
  expect((await signIn(fixture, {}, { address: "198.51.100.1" })).status).toBe(303);
  fixture.clock.advance(10 * minuteMs);
  expect((await signIn(fixture)).status).toBe(303);
});

test.each([
  { network: "/56", guesses: 15, addressOf: (at: number) => `2001:db8:1:1${at.toString(16).padStart(2, "0")}::1` },
  { network: "/48", guesses: 20, addressOf: (at: number) => `2001:db8:1:${at.toString(16)}00::1` },
])(
  "brute force from an IPv6 $network, which one sender may have as a whole, has one limit",
  async ({ guesses, addressOf }) => {
    await using fixture = await startWithAda();
    const statuses = [];
    for (let at = 0; at < 30; at += 1) {
      // Too long for any password: counted like every other guess, but not hashed.
      statuses.push((await signIn(fixture, { password: "x".repeat(1_025) }, { address: addressOf(at) })).status);
    }
    expect(statuses).toEqual([...Array(guesses).fill(401), ...Array(30 - guesses).fill(429)]);
    expect((await signIn(fixture, {}, { address: "2001:db8:2::1" })).status).toBe(303);
  },
);

test("brute force from a thousand addresses is stopped, without locking out known clients", async () => {
  await using fixture = await startWithAda();
  const home = { address: "203.0.113.5" };
  expect((await signIn(fixture, {}, home)).status).toBe(303);
  let refused = 0;
  for (let at = 0; at < 1_010; at += 1) {
    const address = `2001:db8:${at.toString(16)}::1`;
    // Too long for any password: counted like every other guess, but not hashed.
    const { status } = await signIn(fixture, { password: "x".repeat(1_025) }, { address });
    if (status === 429) refused += 1;
  }
  expect(refused).toBe(10);
  expect((await signIn(fixture, {}, home)).status).toBe(303);
  expect((await signIn(fixture, {}, { address: "203.0.113.6" })).status).toBe(429);
  fixture.clock.advance(hourMs);
  expect((await signIn(fixture, {}, { address: "203.0.113.6" })).status).toBe(303);
});

test.each(["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "/..//evil.example"])(
  "open redirect: after signing in, %j does not redirect to another site",
  async (next) => {
    await using fixture = await startWithAda();
    expect((await signIn(fixture, { next })).location).toBe("/");
    const page = await visit(fixture, `/users/sign_in?next=${encodeURIComponent(next)}`);
    expect(page.body).not.toContain("evil");
    expect((await signIn(fixture, { next: "/p?state=active" })).location).toBe("/p?state=active");
  },
);

test("the query parameter that reports a finished step shows only known texts", async () => {
  await using fixture = await startWithAda();
  const plain = (await visit(fixture, "/users/sign_in")).body;
  expect((await visit(fixture, "/users/sign_in?done=confirmed")).body).toContain("is confirmed");
  expect((await visit(fixture, "/users/sign_in?done=%3Cb%3E")).body).toBe(plain);
});

test("the password is in no answer and in no log line", async () => {
  await using fixture = await startWithAda();
  const canary = "canary-quartz-willow-71";
  const answers = [
    await signIn(fixture, { password: canary }),
    await signIn(fixture, { email: canary, password: canary }),
    await visit(fixture, "/users/sign_up", { email: ada, password: canary }),
    await visit(fixture, "/users/password/edit", { reset_password_token: canary, password: canary }),
    await visit(fixture, "/first_run", { boot_code: canary, email: ada, password: canary }),
  ];
  for (const { body } of answers) expect(body.replaceAll(`value="${canary}"`, "")).not.toContain(canary);
  expect(fixture.logLines.join("")).not.toContain(canary);
});

test("the sign-out URL shows a button: following a link to it does not sign out", async () => {
  await using fixture = await startWithAda();
  const person = await signInClient(fixture, ada);
  const asked = await person.get("/users/sign_out");
  expect(asked.status).toBe(200);
  expect(asked.body).toContain('<form method="post" action="/users/sign_out"');
  expect(await isSignedIn(fixture, person.cookie())).toBe(true);
  await person.post("/users/sign_out");
  expect((await person.get("/users/sign_out")).location).toBe("/users/sign_in");
});
