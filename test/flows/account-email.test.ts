import { expect, test } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import { password, startTestApp, type TestApp } from "../support/app.ts";
import { linkIn, startMailSink } from "../support/mail-sink.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";

const ada = "ada@example.com";
const eve = "eve@example.com";
const moved = "countess@example.com";
const confirmation = "/users/confirmation/new_email";

const ask = (person: SignedInClient, email: string, more: Readonly<Record<string, string>> = {}) =>
  person.post("/users/edit/email", { email, password, ...more });

const userAt = ({ app }: TestApp, email: string) => app.domain.accounts.findUserByEmail(email);

test("without account emails, a new address is set at once, after a check of the password", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const id = (await userAt(fixture, ada))?.id;
  const wrong = await ask(person, moved, { password: "not the password" });
  expect(wrong.status).toBe(422);
  expect(wrong.body).toContain("The password is not correct.");
  expect(wrong.body).toContain(`value="${moved}"`);
  expect(wrong.body).not.toContain("not the password");
  expect(await userAt(fixture, ada)).toBeDefined();

  expect(await ask(person, "  Countess@Example.COM ")).toMatchObject({ location: "/users/edit?done=email" });
  expect((await userAt(fixture, moved))?.id).toBe(id);
  expect(await userAt(fixture, ada)).toBeUndefined();
  await signInClient(fixture, moved);
});

test("without account emails, the error about a taken address is beside the field", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  await signInClient(fixture, eve, { join: true });
  const answer = await ask(person, eve);
  expect([answer.status, answer.body.includes("Another account has this address.")]).toEqual([422, true]);
});

test("with account emails, a new address is set by the button on the page of the emailed link; the old address is notified", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const person = await signInClient(fixture, ada, { join: true });
  const id = (await userAt(fixture, ada))?.id;
  expect(await ask(person, moved)).toMatchObject({ location: "/users/edit?done=link" });
  expect((await person.get("/users/edit")).body).toContain(moved);
  expect(await userAt(fixture, moved)).toBeUndefined();

  const link = linkIn(await sink.next(moved), confirmation);
  const path = `${link.pathname}${link.search}`;
  // A scanner follows the link, and nothing happens.
  const shown = await fixture.server.inject({ url: path });
  expect(shown.body).toContain(moved);
  expect(await userAt(fixture, moved)).toBeUndefined();

  const token = link.searchParams.get("token") ?? "";
  expect(await person.post(confirmation, { token })).toMatchObject({ status: 303, location: `${confirmation}/done` });
  expect((await userAt(fixture, moved))?.id).toBe(id);
  expect((await sink.next(ada)).recipients).toEqual([ada]);
  expect((await person.post(confirmation, { token })).status).toBe(404);
  expect((await person.get("/users/edit")).body).not.toContain("is not confirmed yet");
});

test("a taken address gets the same answer as a free one, and only its owner is notified", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const person = await signInClient(fixture, ada, { join: true });
  await signInClient(fixture, eve, { join: true });
  const taken = await ask(person, eve);
  const shownTaken = (await person.get("/users/edit")).body;
  const free = await ask(person, moved);
  const shownFree = (await person.get("/users/edit")).body;
  expect(taken.status).toBe(free.status);
  expect(taken.location).toBe(free.location);
  const plain = (body: string) => body.replaceAll(eve, moved).replaceAll(/data-relative-time[^>]*>[^<]*/g, "");
  expect(plain(shownTaken)).toBe(plain(shownFree));
  const told = await sink.next(eve);
  expect(told.text).not.toContain(confirmation);
});

test("a link is invalid after a day, after another was requested, and after a change of password", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const first = await signInClient(fixture, ada, { join: true });
  const id = (await userAt(fixture, ada))?.id;
  const tokenFor = async (email: string) => {
    const link = linkIn(await sink.next(email), confirmation);
    return link.searchParams.get("token") ?? "";
  };
  await ask(first, moved);
  const earlier = await tokenFor(moved);
  await ask(first, "second@example.com");
  const later = await tokenFor("second@example.com");
  expect((await first.post(confirmation, { token: earlier })).status).toBe(404);
  await first.post("/users/edit/password", { current_password: password, password: "marble-otter-lantern" });
  expect((await first.post(confirmation, { token: later })).status).toBe(404);

  await ask(first, "third@example.com", { password: "marble-otter-lantern" });
  const late = await tokenFor("third@example.com");
  fixture.clock.advance(dayMs);
  const answer = await fixture.server.inject({ url: `${confirmation}?token=${late}` });
  expect(answer.statusCode).toBe(404);
  expect((await userAt(fixture, ada))?.id).toBe(id);
});

test("the number of emails that one account can send to other addresses is limited", async () => {
  const sink = await startMailSink();
  await using fixture = await startTestApp({ environment: sink.environment });
  const person = await signInClient(fixture, ada, { join: true });
  const statuses: number[] = [];
  for (let at = 0; at < 7; at += 1) statuses.push((await ask(person, `victim${at}@example.com`)).status);
  expect(statuses).toEqual([303, 303, 303, 303, 303, 422, 422]);
  fixture.clock.advance(hourMs);
  const again = await signInClient(fixture, ada);
  expect((await ask(again, "victim@example.com")).status).toBe(303);
});

test("an address that may not sign up is refused as a new address too", async () => {
  await using fixture = await startTestApp({ environment: { PWP__SIGNUP_EMAIL_REGEXP: "@example\\.com$" } });
  const person = await signInClient(fixture, ada, { join: true });
  expect((await ask(person, "ada@elsewhere.example")).body).toContain("does not allow accounts with this address");
  expect((await ask(person, moved)).status).toBe(303);
});

test("mass assignment: fields that are not in a form are ignored", async () => {
  await using fixture = await startTestApp();
  const person = await signInClient(fixture, ada, { join: true });
  const extra = { admin: "true", "user[admin]": "1", id: "99", user_id: "99", confirmed_at: "0", disabled_at: "1" };
  const before = await userAt(fixture, ada);
  await ask(person, moved, extra);
  await person.post("/users/edit/language", { language: "de", ...extra });
  await person.post("/users/edit/defaults", { first_kind: "url", ...extra });
  await person.post("/users/edit/password", { current_password: password, password: "marble-otter-lantern", ...extra });
  expect(await userAt(fixture, moved)).toMatchObject({
    id: before?.id,
    admin: false,
    disabledAt: null,
    language: "de",
  });
  expect((await person.get("/admin")).status).toBe(404);
});

test("wrong passwords on the account page count against the limits of the sign-in, for this client only", async () => {
  await using fixture = await startTestApp();
  const thief = await signInClient(fixture, ada, { join: true, address: "198.51.100.66" });
  const owner = await signInClient(fixture, ada);
  const statuses: number[] = [];
  for (let at = 0; at < 12; at += 1) {
    statuses.push((await ask(thief, moved, { password: `guess number ${at}` })).status);
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(422));
  expect(statuses.slice(10)).toEqual([429, 429]);
  for (const path of ["delete", "email"]) {
    const answer = await thief.post(`/users/edit/${path}`, { email: moved, password });
    expect([path, answer.status]).toEqual([path, 429]);
  }
  expect((await thief.post("/users/edit/password", { current_password: password, password: "x" })).status).toBe(429);
  expect((await ask(owner, moved)).status).toBe(303);
});
