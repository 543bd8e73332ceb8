import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { password, type TestAppOptions } from "../support/app.ts";
import type { CookieClient } from "../support/cookie-client.ts";
import { ada, addPasskey, isIn, openFixture, optionsFor, setUpApp } from "../support/factor-pages.ts";
import { startSignOnApp, urlOf } from "../support/sign-on.ts";

const lifetimeSeconds = 90 * 86_400;
const stay = { stay_signed_in: "1" };

type Answer = Awaited<ReturnType<CookieClient["post"]>>;

/** The Max-Age of the session's cookie; undefined: it ends with the browser. */
function maxAgeIn(answer: Answer): number | undefined {
  const cookie = answer.cookies.find(({ name }) => name.endsWith("sealpush_session"));
  if (cookie === undefined) throw new Error("The answer sets no session.");
  return cookie.maxAge;
}

async function signInToStay(options: TestAppOptions = {}) {
  const fixture = await openFixture(options);
  const visitor = fixture.newVisitor();
  const answer = await visitor.post("/users/sign_in", { email: ada, password, ...stay });
  const copy = fixture.newVisitor();
  for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
  expect(await isIn(copy)).toBe(true);
  return { ...fixture, visitor, answer, copy };
}

test.each([
  ["", lifetimeSeconds],
  ["12 hours", 43_200],
])("with the box, the cookie lasts as long as the session may: %j", async (longest, seconds) => {
  const { answer } = await signInToStay({ environment: { PWP__LOGIN_SESSION_MAX: longest } });
  expect(maxAgeIn(answer)).toBe(seconds);
  expect(answer.cookies[0]).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
});

test.each(["", "0", "true"])("without the box (%j), the cookie ends with the browser", async (value) => {
  const { newVisitor } = await openFixture();
  const answer = await newVisitor().post("/users/sign_in", { email: ada, password, stay_signed_in: value });
  expect(maxAgeIn(answer)).toBeUndefined();
});

test("the box stays as it was when the password was wrong", async () => {
  const { newVisitor } = await openFixture();
  const wrong = (more: object) => newVisitor().post("/users/sign_in", { email: ada, password: "wrong", ...more });
  const box = /<input type="checkbox" id="stay_signed_in"[^>]* checked/;
  expect((await wrong(stay)).body).toMatch(box);
  expect((await wrong({})).body).not.toMatch(box);
});

test.each([
  ["", "30 days"],
  ["90 minutes", "30 days"],
  ["60 days", "60 days"],
])("the form says how long a session with the box lasts without activity: %s", async (setting, time) => {
  const environment = setting === "" ? {} : { PWP__LOGIN_SESSION_TIMEOUT: setting };
  const { newVisitor } = await openFixture({ environment });
  const { body } = await newVisitor().get("/users/sign_in");
  expect(body).toContain(en.signIn.stayHint({ time }));
});

test("a copied cookie is invalid after sign-out, although the browser would keep it", async () => {
  const { visitor, copy } = await signInToStay();
  await visitor.post("/users/sign_out");
  expect(visitor.cookies.size).toBe(0);
  expect(await isIn(copy)).toBe(false);
});

test("a copied cookie is invalid after a change of password in another session", async () => {
  const { signIn, copy } = await signInToStay();
  const fields = { current_password: password, password: "marble-otter-lantern" };
  expect((await (await signIn()).post("/users/edit/password", fields)).statusCode).toBe(303);
  expect(await isIn(copy)).toBe(false);
});

test("a copied cookie is invalid after its session was revoked", async () => {
  const { signIn, copy } = await signInToStay();
  expect((await (await signIn()).post("/users/edit/sessions/end_others")).statusCode).toBe(303);
  expect(await isIn(copy)).toBe(false);
});

test("with the box, a session lasts 30 days without activity, or as long as the timeout", async () => {
  for (const [timeout, days] of [
    ["2 hours", 30],
    ["45 days", 45],
  ] as const) {
    const { app, visitor, copy } = await signInToStay({ environment: { PWP__LOGIN_SESSION_TIMEOUT: timeout } });
    app.clock.advance(days * dayMs - 1);
    expect(await isIn(visitor)).toBe(true);
    app.clock.advance(days * dayMs);
    expect(await isIn(copy)).toBe(false);
  }
});

test("no session lives longer than the longest life, whatever its activity", async () => {
  const { app, visitor } = await signInToStay({ environment: { PWP__LOGIN_SESSION_MAX: "3 days" } });
  for (let days = 0; days < 3; days += 1) {
    expect(await isIn(visitor)).toBe(true);
    app.clock.advance(dayMs);
  }
  expect(await isIn(visitor)).toBe(false);
});

test.each([
  [stay, lifetimeSeconds],
  [{}, undefined],
])("the choice %j survives the second factor", async (choice, seconds) => {
  const fixture = await openFixture();
  const { code } = await setUpApp(fixture, await fixture.signIn());
  const visitor = fixture.newVisitor();
  const waiting = await visitor.post("/users/sign_in", { email: ada, password, ...choice });
  expect(maxAgeIn(waiting)).toBeUndefined();
  // The field counts only beside the password.
  const complete = await visitor.post("/users/second_factor", { code: code(), stay_signed_in: "1" });
  expect([complete.statusCode, maxAgeIn(complete)]).toEqual([303, seconds]);
  expect(await isIn(visitor)).toBe(true);
});

test.each([
  [stay, lifetimeSeconds],
  [{}, undefined],
])("the choice %j applies to a passkey alone, also when it is offered again", async (choice, seconds) => {
  const fixture = await openFixture();
  const { authenticator } = await addPasskey(await fixture.signIn(), "laptop");
  const visitor = fixture.newVisitor();
  const refused = await visitor.post("/users/sign_in/passkey", { passkey: "{}", ...choice });
  expect(refused.body.includes('name="stay_signed_in" value="1"')).toBe(seconds !== undefined);
  const passkey = authenticator.get(await optionsFor(visitor, "/users/sign_in/passkey/options"));
  expect(maxAgeIn(await visitor.post("/users/sign_in/passkey", { passkey, ...choice }))).toBe(seconds);
});

test.each([
  [stay, lifetimeSeconds],
  [{}, undefined],
])("the choice %j survives single sign-on and the confirmation of a link", async (choice, seconds) => {
  const { provider, newVisitor } = await startSignOnApp();
  provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
  provider.people.set("a-1", { email: ada, email_verified: true });
  const signOn = async (visitor: CookieClient, accountId: string) => {
    provider.answer = { login: { accountId } };
    const leaving = await visitor.post("/users/auth/oidc", { email: "", password: "", ...choice });
    return visitor.get(await provider.followRedirects(urlOf(leaving.body)));
  };
  expect(maxAgeIn(await signOn(newVisitor(), "b-1"))).toBe(seconds);
  const owner = newVisitor();
  expect((await signOn(owner, "a-1")).headers.location).toBe("/users/auth/oidc/confirm");
  expect(maxAgeIn(await owner.post("/users/auth/oidc/confirm", { password }))).toBe(seconds);
});
