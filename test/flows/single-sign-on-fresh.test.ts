import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { startMailSink } from "../support/mail-sink.ts";
import { providerName } from "../support/provider.ts";
import { baseUrl, type CookieClient, type SignOnApp, startSignOnApp, urlOf } from "../support/sign-on.ts";

const messages = en.singleSignOn;
const email = "bob@example.com";
const settingsPath = "/users/single_sign_on";
const codePath = `${settingsPath}/code`;
const again = `${settingsPath}/again`;

async function signedOn(site: SignOnApp): Promise<CookieClient> {
  site.provider.people.set("b-1", { email, email_verified: true });
  const visitor = site.newVisitor();
  expect((await site.signOn(visitor, "b-1")).statusCode).toBe(303);
  return visitor;
}

/** Whether the session may do what needs a proof. */
async function isProved(visitor: CookieClient): Promise<boolean> {
  const answer = await visitor.post("/users/token", { name: "a token" });
  return answer.statusCode !== 422;
}

test("a sign-on that may have been silent proves nothing, and a fresh one is good for ten minutes", async () => {
  const site = await startSignOnApp();
  const visitor = await signedOn(site);
  expect(await isProved(visitor)).toBe(false);
  expect((await visitor.get("/users/token")).body).toContain(messages.prove);

  const leaving = new URL(urlOf((await visitor.post(again)).body));
  expect([leaving.searchParams.get("prompt"), leaving.searchParams.get("max_age")]).toEqual(["login", "0"]);
  const answer = await site.signOn(visitor, "b-1", { path: again, next: "/users/token" });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, "/users/token"]);
  expect(await isProved(visitor)).toBe(true);
  site.app.clock.advance(10 * minuteMs + 1);
  expect(await isProved(visitor)).toBe(false);
});

test.each([
  [200, 303],
  [310, 403],
])("a proof that the provider asked for %i seconds ago is answered with %i", async (seconds, statusCode) => {
  const site = await startSignOnApp();
  const visitor = await signedOn(site);
  site.provider.answer = { login: { accountId: "b-1", ts: Math.floor(Date.now() / 1_000) - seconds } };
  const url = new URL(urlOf((await visitor.post(again)).body));
  url.searchParams.delete("prompt");
  url.searchParams.set("max_age", "3600");
  const answer = await visitor.get(await site.provider.followRedirects(url.href));
  expect(answer.statusCode).toBe(statusCode);
  expect(await isProved(visitor)).toBe(statusCode === 303);
});

test("another identity proves nothing, nor does another session's sign-on", async () => {
  const site = await startSignOnApp();
  const visitor = await signedOn(site);
  site.provider.people.set("e-1", { email: "eve@example.com", email_verified: true });
  expect((await site.signOn(visitor, "e-1", { path: again })).statusCode).toBe(403);
  await site.signOn(site.newVisitor(), "e-1");
  expect((await site.signOn(visitor, "e-1", { path: again })).statusCode).toBe(403);
  const callback = await site.goAndReturn(visitor, "b-1", { path: again });
  await site.signOn(visitor, "b-1");
  expect((await visitor.get(callback)).statusCode).toBe(400);
  expect(await isProved(visitor)).toBe(false);
});

/** A provider that ignores the parameters does not say when it asked its user. */
async function returnWithoutTime(site: SignOnApp, visitor: CookieClient) {
  site.provider.answer = { login: { accountId: "b-1" } };
  const url = new URL(urlOf((await visitor.post(again)).body));
  for (const name of ["max_age", "prompt"]) url.searchParams.delete(name);
  return await visitor.get(await site.provider.followRedirects(url.href));
}

test("without a time of the provider and without mail, the change is refused", async () => {
  const site = await startSignOnApp();
  const visitor = await signedOn(site);
  const answer = await returnWithoutTime(site, visitor);
  expect(answer.statusCode).toBe(403);
  expect(answer.body).toContain(messages.claimAbsent({ name: providerName, claim: "auth_time" }));
  expect(await isProved(visitor)).toBe(false);
});

async function withMail() {
  const sink = await startMailSink();
  const site = await startSignOnApp({
    ...sink.environment,
    PWP__ENABLE_USER_ACCOUNT_EMAILS: "false",
    PWP__OVERRIDE_BASE_URL: baseUrl,
  });
  const visitor = await signedOn(site);
  const mailedCode = async (): Promise<string> => {
    const answer = await returnWithoutTime(site, visitor);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, codePath]);
    return /\b\d{8}\b/.exec((await sink.next(email)).text ?? "")?.[0] ?? "";
  };
  return { site, visitor, mailedCode };
}

test("a mailed code takes the place of a time of the provider, once", async () => {
  const { site, visitor, mailedCode } = await withMail();
  const code = await mailedCode();
  expect((await visitor.get(codePath)).body).toContain(messages.codeSubmit);
  const step = new Map(visitor.cookies);
  const digits = `${code.slice(0, 4)} ${code.slice(4)}`;
  expect((await visitor.post(codePath, { code: digits })).headers.location).toBe(`${settingsPath}?proved=1`);
  expect(await isProved(visitor)).toBe(true);
  site.app.clock.advance(10 * minuteMs + 1);
  for (const [name, value] of step) visitor.cookies.set(name, value);
  expect((await visitor.post(codePath, { code })).statusCode).toBe(400);
  expect(await isProved(visitor)).toBe(false);
});

test("a code has three tries, also in parallel", async () => {
  const { visitor, mailedCode } = await withMail();
  const code = await mailedCode();
  const wrong = code === "00000000" ? "00000001" : "00000000";
  const answers = await Promise.all(Array.from({ length: 6 }, () => visitor.post(codePath, { code: wrong })));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([400, 400, 400, 400, 422, 422]);
  expect((await visitor.post(codePath, { code })).statusCode).toBe(400);
  expect(await isProved(visitor)).toBe(false);
});

test("a code expires with its step, and counts for the address that it was mailed to", async () => {
  const { site, visitor, mailedCode } = await withMail();
  const code = await mailedCode();
  site.app.clock.advance(10 * minuteMs);
  expect((await visitor.post(codePath, { code })).statusCode).toBe(400);
  const other = await mailedCode();
  await changeUsers(site.app.app.domain, { email: "bob@elsewhere.example" }, email);
  expect((await visitor.post(codePath, { code: other })).statusCode).toBe(400);
  expect(await isProved(visitor)).toBe(false);
});

test("a code counts in the session that has asked for it", async () => {
  const { site, visitor, mailedCode } = await withMail();
  const code = await mailedCode();
  const other = await signedOn(site);
  other.cookies.set("sealpush_sign_on", visitor.cookies.get("sealpush_sign_on") ?? "");
  expect((await other.post(codePath, { code })).statusCode).toBe(400);
  expect(await isProved(other)).toBe(false);
  expect((await visitor.post(codePath, { code })).statusCode).toBe(303);
});

test("ten codes an hour are mailed", async () => {
  const { site, visitor, mailedCode } = await withMail();
  for (let at = 0; at < 10; at += 1) await mailedCode();
  expect((await returnWithoutTime(site, visitor)).statusCode).toBe(429);
});

test("a session that began at the provider is no consent to link another identity", async () => {
  const site = await startSignOnApp();
  const visitor = await signedOn(site);
  site.provider.people.set("m-1", { email, email_verified: true });
  const mallory = site.newVisitor();
  expect((await site.signOn(mallory, "m-1")).headers.location).toBe("/users/auth/oidc/confirm");
  site.app.clock.advance(1);
  const step = mallory.cookies.get("sealpush_sign_on") ?? "";
  await site.signOn(visitor, "b-1");
  visitor.cookies.set("sealpush_sign_on", step);
  expect((await visitor.post("/users/auth/oidc/confirm")).statusCode).toBe(400);
  await site.signOn(visitor, "b-1", { path: again });
  visitor.cookies.set("sealpush_sign_on", step);
  expect((await visitor.post("/users/auth/oidc/confirm")).statusCode).toBe(303);
});
