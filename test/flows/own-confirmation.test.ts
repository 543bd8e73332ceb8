import { expect, test } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { clientAt } from "../support/accounts.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { countEveryone, stranger } from "../support/domain.ts";
import { countRows } from "../support/engine-database.ts";
import { visit } from "../support/form-requests.ts";
import { linkIn, type MailSink, startMailSink } from "../support/mail-sink.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const eve = "eve@example.com";
const asking = "/users/edit/email/confirmation";
const confirmation = "/users/confirmation";
const { confirmation: messages } = en.profile.email;

interface Fixture {
  readonly fixture: TestApp;
  readonly sink: MailSink;
}

/** A mail server is configured and account emails are off, which is the default with a mail server. */
async function startWithoutAccountEmails(environment: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const sink = await startMailSink();
  const settings = { ...sink.environment, PWP__ENABLE_USER_ACCOUNT_EMAILS: "false", ...environment };
  const fixture = await startTestApp({ environment: settings });
  await fixture.app.domain.accounts.createUser({ email: "admin@example.com", password, admin: true });
  return { fixture, sink };
}

/** A user who signed up on the page, so that the address is unconfirmed. */
async function signUp(fixture: TestApp, email = ada): Promise<SignedInClient> {
  expect((await visit(fixture, "/users/sign_up", { email, password })).status).toBe(303);
  return await signInClient(fixture, email);
}

const userAt = (fixture: TestApp, email = ada) => fixture.app.domain.accounts.findUserByEmail(email);
const isConfirmed = async (fixture: TestApp, email = ada) => (await userAt(fixture, email))?.confirmedAt !== null;
const tokenFrom = async (sink: MailSink, to = ada) =>
  linkIn(await sink.next(to), confirmation).searchParams.get("confirmation_token") ?? "";
const press = (person: Pick<SignedInClient, "post">, token: string) =>
  person.post(confirmation, { confirmation_token: token });
const mailsOf = async ({ fixture, sink }: Fixture) =>
  sink.messages().length + (await fixture.app.domain.mail.sizes()).waiting;

test("a user who signed up without account emails can confirm by a requested link, and then gets view notifications", async () => {
  const { fixture, sink } = await startWithoutAccountEmails();
  await using _ = fixture;
  const person = await signUp(fixture);
  const { token } = await fixture.app.domain.accounts.createToken((await userAt(fixture))?.id ?? 0, "test");
  const push = () =>
    fixture.server.inject({
      method: "POST",
      url: "/api/v2/pushes",
      headers: { authorization: `Bearer ${token}` },
      payload: { push: { payload: "x", notify_on_view: true } },
    });
  const refused = await push();
  expect([refused.statusCode, JSON.stringify(refused.json())]).toEqual([
    422,
    '{"notify_on_view":["needs a confirmed email address: confirm it on your account\'s page."]}',
  ]);
  const form = (await person.get("/")).body;
  expect(form).toContain('href="/users/edit#email_section"');
  expect(form).not.toContain("push_notify_on_view");

  const shown = (await person.get("/users/edit")).body;
  expect([shown.includes(messages.missing), shown.includes(messages.send)]).toEqual([true, true]);
  const asked = await person.post(asking);
  expect(asked).toMatchObject({ status: 303, location: "/users/edit?done=confirmation" });
  expect((await person.get(asked.location ?? "")).body).toContain(messages.sent);
  const mail = await sink.next(ada);
  expect([mail.subject, mail.recipients]).toEqual(["Sealpush: Confirm your email address (push.example.com)", [ada]]);
  const link = linkIn(mail, confirmation);
  // A scanner follows the link, and nothing happens.
  expect((await visit(fixture, `${link.pathname}${link.search}`)).status).toBe(200);
  expect(await isConfirmed(fixture)).toBe(false);

  const confirmed = await press(person, link.searchParams.get("confirmation_token") ?? "");
  expect(confirmed).toMatchObject({ status: 303, location: "/users/edit?done=confirmed" });
  const after = (await person.get(confirmed.location ?? "")).body;
  expect([after.includes(en.profile.saved.confirmed), after.includes(asking)]).toEqual([true, false]);
  expect((await person.get("/")).body).toContain("push_notify_on_view");
  expect((await push()).statusCode).toBe(201);
});

test("the link keeps password and sessions, and works once", async () => {
  const { fixture, sink } = await startWithoutAccountEmails();
  await using _ = fixture;
  const person = await signUp(fixture);
  const other = await signInClient(fixture, ada);
  for (let at = 0; at < 2; at += 1) await person.post(asking);
  const first = await tokenFrom(sink);
  const second = await tokenFrom(sink);
  expect((await press(person, first)).status).toBe(303);
  // One of the links was used, so all of them are invalid.
  for (const token of [first, second]) expect((await press(person, token)).status).toBe(404);
  for (const browser of [person, other]) expect((await browser.get("/users/edit")).status).toBe(200);
  await signInClient(fixture, ada);
  expect(await person.post(asking)).toMatchObject({ status: 303, location: "/users/edit" });
  expect(sink.messages()).toHaveLength(2);
});

test("the link confirms the account it was made for, in any browser", async () => {
  const { fixture, sink } = await startWithoutAccountEmails();
  await using _ = fixture;
  const person = await signUp(fixture);
  const another = await signUp(fixture, eve);
  await person.post(asking);
  expect(await press(another, await tokenFrom(sink))).toMatchObject({
    status: 303,
    location: "/users/sign_in?done=confirmed",
  });
  expect([await isConfirmed(fixture), await isConfirmed(fixture, eve)]).toEqual([true, false]);
});

test("the link is invalid after a day, and once the address has changed", async () => {
  const { fixture, sink } = await startWithoutAccountEmails();
  await using _ = fixture;
  const person = await signUp(fixture);
  await person.post(asking);
  const old = await tokenFrom(sink);
  fixture.clock.advance(dayMs);
  const again = await signInClient(fixture, ada);
  const late = await press(again, old);
  expect([late.status, late.body.includes('href="/users/edit"')]).toEqual([404, true]);

  await again.post(asking);
  const token = await tokenFrom(sink);
  expect((await again.post("/users/edit/email", { email: eve, password })).status).toBe(303);
  expect((await press(again, token)).status).toBe(404);
  expect(await isConfirmed(fixture, eve)).toBe(false);
});

test("an address that was changed without an email is not confirmed, and gets no view notifications", async () => {
  const { fixture, sink } = await startWithoutAccountEmails();
  await using _ = fixture;
  const person = await signInClient(fixture, ada, { join: true });
  const { pushes } = fixture.app.domain;
  expect(await isConfirmed(fixture)).toBe(true);
  await person.post("/p", { "push[payload]": "x", "push[notify_on_view]": "1" });
  await person.post("/users/edit/email", { email: eve, password });
  expect(await isConfirmed(fixture, eve)).toBe(false);
  expect((await person.get("/users/edit")).body).toContain(messages.missing);

  const list = (await person.get("/p")).body;
  const urlToken = /\/p\/([a-z0-9]+)\/edit/.exec(list)?.[1] ?? "";
  const edit = (await person.get(`/p/${urlToken}/edit`)).body;
  // The option can still be switched off, and the page links to the confirmation.
  expect([edit.includes("push_notify_on_view"), edit.includes("#email_section")]).toEqual([true, true]);
  const { db } = fixture.app.domain;
  await pushes.claimView(urlToken, countEveryone, stranger);
  await expect.poll(() => countRows(db, "view_notifications")).toBe(0);
  expect(await mailsOf({ fixture, sink })).toBe(0);

  await person.post(asking);
  await press(person, await tokenFrom(sink, eve));
  expect(await isConfirmed(fixture, eve)).toBe(true);
});

test("following a link mailed to a new address confirms it", async () => {
  const { fixture, sink } = await startWithoutAccountEmails({ PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" });
  await using _ = fixture;
  const person = await signInClient(fixture, ada, { join: true });
  await changeUsers(fixture.app.domain, { confirmedAt: null }, "ada@example.com");
  await person.post("/users/edit/email", { email: eve, password });
  const link = linkIn(await sink.next(eve), "/users/confirmation/new_email");
  await person.post("/users/confirmation/new_email", { token: link.searchParams.get("token") ?? "" });
  expect(await isConfirmed(fixture, eve)).toBe(true);
});

test("with account emails on, users from before confirm in the same way", async () => {
  const { fixture, sink } = await startWithoutAccountEmails({ PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" });
  await using _ = fixture;
  const person = await signInClient(fixture, ada, { join: true });
  await changeUsers(fixture.app.domain, { confirmedAt: null }, "ada@example.com");
  expect((await person.get("/users/edit")).body).toContain(messages.send);
  await person.post(asking);
  expect((await press(person, await tokenFrom(sink))).location).toBe("/users/edit?done=confirmed");
});

test("one account gets few links, also after changes of address; requests of strangers do not count", async () => {
  const { fixture, sink } = await startWithoutAccountEmails();
  await using _ = fixture;
  const person = await signUp(fixture);
  for (let at = 0; at < 6; at += 1) {
    const sender = { address: `198.51.100.${at + 1}` };
    expect((await visit(fixture, "/users/sign_up", { email: ada, password }, sender)).status).toBe(422);
    expect((await visit(fixture, "/users/confirmation/new", { email: ada }, sender)).status).toBe(403);
  }
  const statuses: number[] = [];
  for (let at = 0; at < 3; at += 1) statuses.push((await person.post(asking)).status);
  await person.post("/users/edit/email", { email: "moved@example.com", password });
  for (let at = 0; at < 3; at += 1) statuses.push((await person.post(asking)).status);
  expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
  const refused = await person.post(asking);
  expect([refused.headers["retry-after"], refused.body.includes('id="email_confirmation_problem"')]).toEqual([
    "3600",
    true,
  ]);
  await expect.poll(() => sink.messages().length).toBe(5);
  fixture.clock.advance(hourMs);
  expect((await (await signInClient(fixture, "moved@example.com")).post(asking)).status).toBe(303);
});

test("one address gets few links, whichever accounts have it", async () => {
  const { fixture } = await startWithoutAccountEmails();
  await using _ = fixture;
  const first = await signUp(fixture);
  for (let at = 0; at < 5; at += 1) await first.post(asking);
  await first.post("/users/edit/delete", { password });
  const second = await signUp(fixture);
  expect((await second.post(asking)).status).toBe(429);
});

test("one client gets a hundred links an hour, for whichever accounts", async () => {
  const { fixture } = await startWithoutAccountEmails();
  await using _ = fixture;
  const { accounts } = fixture.app.domain;
  const ask = async (at: number, client: string) => {
    const user = await accounts.createUser({ email: `user${at}@example.com`, password, admin: false });
    return accounts.requestOwnConfirmation({ user, language: "en", client: clientAt(client) });
  };
  for (let at = 0; at < 100; at += 1) await ask(at, "192.0.2.1");
  await expect(ask(100, "192.0.2.1")).rejects.toMatchObject({ code: "too_many_requests" });
  await ask(101, "192.0.2.2");
});

test("on a server without mail no link is offered, and no email is queued", async () => {
  await using fixture = await startTestApp();
  await fixture.app.domain.accounts.createUser({ email: "admin@example.com", password, admin: true });
  const person = await signUp(fixture);
  const body = (await person.get("/users/edit")).body;
  expect([body.includes(asking), body.includes(messages.missing)]).toEqual([false, false]);
  expect((await person.get("/")).body).not.toContain("#email_section");
  expect((await person.post(asking)).status).toBe(403);
  expect(await fixture.app.domain.mail.sizes()).toEqual({ waiting: 0, failed: 0 });
});

test("while account emails are off, no other email about an account is sent, and none for a stranger", async () => {
  const unproven = await startWithoutAccountEmails();
  const { fixture } = unproven;
  await using _ = fixture;
  const person = await signUp(fixture);
  await visit(fixture, "/users/confirmation/new", { email: ada });
  await visit(fixture, "/users/password/new", { email: ada });
  await person.post("/users/edit/password", { current_password: password, password: "marble-otter-lantern" });
  await fixture.app.domain.accounts.requestConfirmation({
    email: ada,
    language: "en",
    client: { throttleKey: "x", address: "192.0.2.1", userAgent: "test" },
  });
  expect((await visit(fixture, asking, {})).location).toContain("/users/sign_in");
  expect(await mailsOf(unproven)).toBe(0);
});
