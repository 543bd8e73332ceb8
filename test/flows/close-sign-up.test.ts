import { expect, onTestFinished, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { changeRows } from "../support/engine-database.ts";
import { CookieClient, startSignOnApp } from "../support/sign-on.ts";
import { signInClient } from "../support/signed-in-client.ts";

const path = "/admin/sign_up";
const admin = "admin@example.com";

async function open(environment: Readonly<Record<string, string>> = {}) {
  const fixture = await startTestApp({ environment });
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return { fixture, client: await signInClient(fixture, admin, { join: true, admin: true }) };
}

const signUp = (fixture: TestApp, email: string) =>
  new CookieClient(fixture).post("/users/sign_up", { email, password: "marble-otter-lantern" });
const pages = async (fixture: TestApp) => {
  const stranger = new CookieClient(fixture);
  const offers = (await stranger.get("/users/sign_in")).body.includes('href="/users/sign_up"');
  return [offers, (await stranger.get("/users/sign_up")).statusCode];
};

test("one click among the next steps closes the sign-up, and one opens it again", async () => {
  const { fixture, client } = await open();
  expect(await pages(fixture)).toEqual([true, 200]);
  expect((await client.get("/admin")).body).toMatch(/action="\/admin\/sign_up".*?name="sign_up" value="closed"/);
  expect(await client.post(path, { sign_up: "closed" })).toMatchObject({ status: 303, location: "/admin" });
  expect(await pages(fixture)).toEqual([false, 403]);
  expect((await signUp(fixture, "eve@example.com")).statusCode).toBe(403);
  expect(await fixture.app.domain.accounts.findUserByEmail("eve@example.com")).toBeUndefined();
  expect((await client.get("/admin")).body).toMatch(/action="\/admin\/sign_up".*?name="sign_up" value="open"/);
  await client.post(path, { sign_up: "closed" });
  await client.post(path, { sign_up: "open" });
  expect(await pages(fixture)).toEqual([true, 200]);
  expect((await signUp(fixture, "eve@example.com")).statusCode).toBe(303);
  const trail = await fixture.app.domain.accounts.listAdminEntries(1);
  expect(trail.filter(({ action }) => action === "changed_rules").map(({ subject }) => subject)).toEqual([
    "sign-up: open",
    "sign-up: closed",
  ]);
});

test("an administrator still makes accounts, and people who have one sign in", async () => {
  const { fixture, client } = await open();
  await client.post(path, { sign_up: "closed" });
  const made = await fixture.app.domain.accounts.createUser({
    email: "bob@example.com",
    password: "marble-otter-lantern",
    admin: false,
  });
  const bob = new CookieClient(fixture);
  await bob.signIn("bob@example.com", "marble-otter-lantern");
  expect(await bob.signedInAs()).toBe(made.email);
});

test("it stays closed after a start, and at another process at once", async () => {
  const { fixture, client } = await open();
  await client.post(path, { sign_up: "closed" });
  await using other = await startTestApp({ dataDir: fixture.dataDir });
  expect(await pages(other)).toEqual([false, 403]);
});

test("what somebody writes into the database opens it to nobody, and one click repairs it", async () => {
  const { fixture, client } = await open();
  await client.post(path, { sign_up: "closed" });
  const forged = `UPDATE policies SET rules = '{"isClosed":false}' WHERE revision = ?`;
  expect(await changeRows(fixture.app.domain.db, forged, 1)).toBe(1);
  expect(await pages(fixture)).toEqual([false, 403]);
  expect((await signUp(fixture, "eve@example.com")).statusCode).toBe(403);
  expect(fixture.logLines.join("")).toContain("forged_row_refused");
  // It is about accounts, not about pushes.
  expect((await fixture.app.domain.policies.find(null)).sources).toEqual([]);
  await client.post(path, { sign_up: "open" });
  expect(await pages(fixture)).toEqual([true, 200]);
});

test("a sign-on at the provider makes no account", async () => {
  const site = await startSignOnApp();
  const { accounts, policies } = site.app.app.domain;
  const by = { userId: null, email: "shell", address: "" };
  await policies.setSignUpClosed(true, accounts.adminEntry("changed_rules", "sign-up: closed", by));
  site.provider.people.set("b-1", { email: "bob@example.com", email_verified: true });
  expect((await site.signOn(site.newVisitor(), "b-1")).statusCode).toBe(403);
  expect(await accounts.findUserByEmail("bob@example.com")).toBeUndefined();
});

test("no page opens what the settings close, and no other value is accepted", async () => {
  const { fixture, client } = await open({ PWP__DISABLE_SIGNUPS: "true" });
  const { body } = await client.get("/admin");
  expect([body.includes('action="/admin/sign_up"'), body.includes("PWP__DISABLE_SIGNUPS")]).toEqual([false, true]);
  await client.post(path, { sign_up: "open" });
  expect(await pages(fixture)).toEqual([false, 403]);
  expect((await client.post(path, { sign_up: "0" })).status).toBe(400);
});
