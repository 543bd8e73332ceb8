import { expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { addUnusablePasskey } from "../support/accounts.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { changeRows, countRows } from "../support/engine-database.ts";
import { comparable, isSignedIn, type Sender, visit } from "../support/form-requests.ts";
import { linkIn, type MailSink, startMailSink } from "../support/mail-sink.ts";
import { signInClient, statusWithCookie } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const next = "marble-otter-lantern";
const path = "/users/password/edit";

interface Started {
  readonly fixture: TestApp;
  readonly sink: MailSink;
}

async function startMailing(): Promise<Started> {
  const sink = await startMailSink();
  const fixture = await startTestApp({ environment: sink.environment });
  await fixture.app.domain.accounts.createUser({ email: ada, password, admin: false });
  return { fixture, sink };
}

const ask = (fixture: TestApp, email = ada, sender?: Sender) =>
  visit(fixture, "/users/password/new", { email }, sender);

/** The link of the next reset mail. */
async function linkFrom({ fixture, sink }: Started): Promise<URL> {
  expect((await ask(fixture)).status).toBe(200);
  for (;;) {
    const mail = await sink.next(ada);
    if (mail.text?.includes("reset_password_token")) return linkIn(mail, path);
  }
}

const set = (fixture: TestApp, link: URL, as = next) =>
  visit(fixture, path, { reset_password_token: link.searchParams.get("reset_password_token") ?? "", password: as });
const signIn = (fixture: TestApp, as: string) => visit(fixture, "/users/sign_in", { email: ada, password: as });

test("the mailed link sets a new password, ends all sessions, and does not sign in", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const before = await signInClient(fixture, ada);
  const link = await linkFrom(started);
  expect((await visit(fixture, `${link.pathname}${link.search}`)).body).toContain('autocomplete="new-password"');
  expect(await statusWithCookie(fixture, before.cookie())).toBe(200);
  const changed = await set(fixture, link);
  expect(changed).toMatchObject({ status: 303, location: "/users/sign_in?done=password_changed", cookie: "" });
  expect(await statusWithCookie(fixture, before.cookie())).toBe(303);
  expect((await signIn(fixture, password)).status).toBe(401);
  expect(await isSignedIn(fixture, (await signIn(fixture, next)).cookie)).toBe(true);
});

test("a reset revokes the account's API tokens, and its client is known from then on", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const { accounts, db } = fixture.app.domain;
  const user = await accounts.findUserByEmail(ada);
  const { token } = await accounts.createToken(user?.id ?? 0, "script");
  const isValid = async () => (await accounts.authenticateToken({ token, address: "192.0.2.1" })) !== undefined;
  await signIn(fixture, password);
  expect([await isValid(), await countRows(db, "known_clients")]).toEqual([true, 1]);
  await changeRows(db, "DELETE FROM known_clients");
  expect((await set(fixture, await linkFrom(started))).status).toBe(303);
  expect([await isValid(), await countRows(db, "known_clients")]).toEqual([false, 1]);
});

test("reset token reuse: a link works once, also with simultaneous requests", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const link = await linkFrom(started);
  const answers = await Promise.all([1, 2, 3, 4, 5].map((at) => set(fixture, link, `${next}-number-${at}`)));
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  const again = await set(fixture, link, "yet-another-lantern");
  expect(again.status).toBe(404);
  expect((await visit(fixture, `${link.pathname}${link.search}`)).status).toBe(404);
  expect((await signIn(fixture, "yet-another-lantern")).status).toBe(401);
});

test("only the newest link works, for one hour", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const first = await linkFrom(started);
  const second = await linkFrom(started);
  expect((await set(fixture, first)).status).toBe(404);
  fixture.clock.advance(hourMs);
  expect((await set(fixture, second)).status).toBe(404);
  expect((await signIn(fixture, password)).status).toBe(303);
});

test("a refused password does not use up the link, and is not repeated", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const link = await linkFrom(started);
  for (const weak of ["short", "password1234", ada]) {
    const refused = await set(fixture, link, weak);
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('id="password_problem"');
    expect(refused.body).not.toContain(`"${weak}"`);
  }
  expect((await set(fixture, link)).status).toBe(303);
});

test("a change of password invalidates links mailed before", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const link = await linkFrom(started);
  const owner = await signInClient(fixture, ada);
  await owner.post("/users/edit/password", { current_password: password, password: "own-choice-of-lantern" });
  expect((await set(fixture, link)).status).toBe(404);
  expect((await signIn(fixture, "own-choice-of-lantern")).status).toBe(303);
});

test("a forged link is invalid, whatever it looks like", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  for (const token of ["", "x", "a".repeat(43), "a".repeat(200_000), "\0", "\u{1f511}"]) {
    expect((await visit(fixture, path, { reset_password_token: token, password: next })).status).toBe(404);
  }
  expect(await visit(fixture, path)).toMatchObject({ status: 303, location: "/users/password/new" });
});

test("user enumeration: unknown, disabled and invalid addresses get the same response as a known one, but no email", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const { accounts } = fixture.app.domain;
  await accounts.createUser({ email: "off@example.com", password, admin: false });
  const off = await accounts.findUserByEmail("off@example.com");
  await accounts.setDisabled(off?.id ?? 0, true, { userId: null, email: "shell", address: "" });
  const answerFor = async (email: string) => comparable(await ask(fixture, email), email);
  const known = await answerFor(ada);
  for (const email of ["nobody@example.com", "off@example.com", "no address"]) {
    expect(await answerFor(email)).toEqual(known);
  }
  await started.sink.next(ada);
  await expect.poll(() => fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(started.sink.messages().map(({ recipients }) => recipients)).toEqual([[ada]]);
});

test("a mailbox cannot be flooded, and a client that asks for many emails has to wait", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const answers = [];
  for (let at = 0; at < 35; at += 1) answers.push(await ask(fixture));
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  await expect.poll(() => fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
  expect(started.sink.messages().length).toBeLessThanOrEqual(6);
  expect((await ask(fixture, ada, { address: "198.51.100.1" })).status).toBe(200);
});

test("an IPv6 network that one sender may have as a whole causes few more emails than one client", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const statuses = [];
  for (let at = 0; at < 48; at += 1) {
    const address = `2001:db8:1:1${at.toString(16).padStart(2, "0")}::1`;
    statuses.push((await ask(fixture, `nobody${at}@example.com`, { address })).status);
  }
  expect(statuses).toEqual([...Array(45).fill(200), ...Array(3).fill(429)]);
  expect((await ask(fixture, ada, { address: "2001:db8:2::1" })).status).toBe(200);
});

test("a reset does not bypass the second factor", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const user = await fixture.app.domain.accounts.findUserByEmail(ada);
  await addUnusablePasskey(fixture.app.domain, { id: user?.id ?? 0 });
  expect((await set(fixture, await linkFrom(started))).cookie).toBe("");
  const half = await signIn(fixture, next);
  expect(half.location).toBe("/users/second_factor");
  expect(await isSignedIn(fixture, half.cookie)).toBe(false);
});

test("a reset confirms the account, and no later sign-up of a stranger changes it", async () => {
  const started = await startMailing();
  await using fixture = started.fixture;
  const eve = "eve@example.com";
  await visit(fixture, "/users/sign_up", { email: eve, password: "a stranger's password" });
  const confirmation = linkIn(await started.sink.next(eve), "/users/confirmation");
  await ask(fixture, eve);
  const reset = linkIn(await started.sink.next(eve), path);
  expect((await set(fixture, reset)).status).toBe(303);
  const late = { confirmation_token: confirmation.searchParams.get("confirmation_token") ?? "" };
  expect((await visit(fixture, "/users/confirmation", late)).status).toBe(404);
  expect((await visit(fixture, "/users/sign_in", { email: eve, password: next })).status).toBe(303);
});

test("without emails the page refers users to an administrator, and creates no link", async () => {
  await using fixture = await startTestApp();
  const page = await visit(fixture, "/users/password/new");
  expect(page.status).toBe(200);
  expect(page.body).toContain("Ask its administrator");
  expect(page.body).toContain(`<a class="button" href="/users/sign_in">`);
  expect(page.body).not.toContain('name="email"');
  expect((await ask(fixture)).status).toBe(403);
});

test("where sign-in is disabled, no password can be reset", async () => {
  await using fixture = await startTestApp({ environment: { PWP__DISABLE_LOGINS: "true" } });
  for (const url of ["/users/password/new", path, "/users/sign_in", "/users/sign_up", "/users/confirmation/new"]) {
    expect([url, (await visit(fixture, url)).status]).toEqual([url, 403]);
    expect([url, (await visit(fixture, url, { email: ada, password })).status]).toEqual([url, 403]);
  }
  expect((await visit(fixture, "/")).body).not.toContain("/users/sign_in");
});
