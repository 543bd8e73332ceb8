import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { en } from "../../src/i18n/i18n.ts";
import { changeUsers } from "../support/access-rows.ts";
import { readRows } from "../support/engine-database.ts";
import { nextAbout, startMailSink } from "../support/mail-sink.ts";
import { shapes } from "../support/provider.ts";
import { baseUrl, type SignOnApp, startSignOnApp } from "../support/sign-on.ts";

const path = "/users/break_glass";
const ada = "ada@example.com";
const shell = { userId: null, email: "shell", address: "" };

async function make(site: SignOnApp, email = ada) {
  const { accounts } = site.app.app.domain;
  const id = (await accounts.findUserByEmail(email))?.id ?? 0;
  const link = await accounts.makeBreakGlassLink(id, shell);
  if (link.outcome !== "made") throw new Error(link.outcome);
  return { id, ...link };
}

const open = () => startSignOnApp({ PWP__OIDC__ONLY: "true" });

test("a break-glass link signs in once, and marks the account", async () => {
  const site = await open();
  const { accounts, db } = site.app.app.domain;
  const before = await accounts.findUserByEmail(ada);
  expect(await accounts.isBreakGlass(before?.id ?? 0)).toBe(false);
  const { id, token, informed } = await make(site);
  expect(informed).toBe(0);
  expect(await accounts.isBreakGlass(id)).toBe(true);
  // Only a digest of the link is stored.
  const rows = await readRows<{ digest: Buffer }>(db, "SELECT digest FROM mailed_links");
  expect(rows.map(({ digest }) => digest.includes(token))).toEqual([false]);
  const visitor = site.newVisitor();
  const { body } = await visitor.get(`${path}?token=${token}`);
  expect(body).toContain(ada);
  // This server sends no email.
  expect(body).not.toContain(en.singleSignOn.breakGlassEmail);
  expect(await visitor.signedInAs()).toBeUndefined();
  expect((await visitor.post(path, { token })).statusCode).toBe(303);
  expect(await visitor.signedInAs()).toBe(ada);
  expect((await visitor.get("/admin")).statusCode).toBe(200);
  const other = site.newVisitor();
  expect((await other.get(`${path}?token=${token}`)).statusCode).toBe(404);
  expect((await other.post(path, { token })).statusCode).toBe(404);
  const trail = await accounts.listAdminEntries(1);
  expect(trail.map(({ action, subject, adminEmail }) => [action, subject, adminEmail])).toEqual([
    ["used_break_glass", ada, ada],
    ["made_break_glass", ada, "shell"],
  ]);
});

test("of many requests at once, one signs in", async () => {
  const site = await open();
  const { token } = await make(site);
  const visitors = Array.from({ length: 8 }, () => site.newVisitor());
  const answers = await Promise.all(visitors.map((visitor) => visitor.post(path, { token })));
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, ...Array<number>(7).fill(404)]);
  const used = (await site.app.app.domain.accounts.listAdminEntries(1)).filter(
    ({ action }) => action === "used_break_glass",
  );
  expect(used).toHaveLength(1);
});

test("a link works for 15 minutes, and no more after a later one", async () => {
  const site = await open();
  const first = await make(site);
  site.app.clock.advance(15 * minuteMs - 1);
  expect((await site.newVisitor().get(`${path}?token=${first.token}`)).statusCode).toBe(200);
  site.app.clock.advance(1);
  expect((await site.newVisitor().post(path, { token: first.token })).statusCode).toBe(404);
  const second = await make(site);
  const third = await make(site);
  expect((await site.newVisitor().post(path, { token: second.token })).statusCode).toBe(404);
  expect((await site.newVisitor().post(path, { token: third.token })).statusCode).toBe(303);
});

test("only an administrator who is enabled gets one, and it ends with the role", async () => {
  const site = await open();
  const { accounts } = site.app.app.domain;
  const bob = await accounts.createUser({ email: "bob@example.com", password: null, admin: false });
  expect(await accounts.makeBreakGlassLink(bob.id, shell)).toEqual({ outcome: "no_admin" });
  await accounts.setAdmin(bob.id, true, shell);
  const { token } = await make(site, bob.email);
  await accounts.setAdmin(bob.id, false, shell);
  expect((await site.newVisitor().post(path, { token })).statusCode).toBe(404);
  await accounts.setAdmin(bob.id, true, shell);
  await accounts.setDisabled(bob.id, true, shell);
  expect(await accounts.makeBreakGlassLink(bob.id, shell)).toEqual({ outcome: "disabled" });
});

test("every administrator who is enabled gets an email, also one by a group, and none has the link", async () => {
  const sink = await startMailSink({ baseUrl });
  const settings = { ...sink.environment, PWP__OIDC__ONLY: "true", PWP__OIDC__ADMIN_GROUP: "admins" };
  const site = await startSignOnApp(settings, shapes.authentik);
  const bob = "bob@example.com";
  site.provider.people.set("b-1", { email: bob, email_verified: true, groups: ["admins"] });
  site.provider.people.set("e-1", { email: "eve@example.com", email_verified: true, groups: [] });
  const dora = "dora@example.com";
  site.provider.people.set("d-1", { email: dora, email_verified: true, groups: ["admins"] });
  for (const person of ["b-1", "e-1", "d-1"]) await site.signOn(site.newVisitor(), person);
  // Her session stays, so only her account says so.
  await changeUsers(site.app.app.domain, { disabledAt: site.app.clock.now() }, dora);
  const { token, informed } = await make(site);
  expect(informed).toBe(2);
  for (const to of [ada, bob]) expect(await nextAbout(sink, to, "A break-glass link was made")).toContain(ada);
  expect((await site.newVisitor().get(`${path}?token=${token}`)).body).toContain(en.singleSignOn.breakGlassEmail);
  expect((await site.newVisitor().post(path, { token })).statusCode).toBe(303);
  for (const to of [ada, bob]) expect(await nextAbout(sink, to, "A break-glass link was used")).toContain(ada);
  const messages = sink.messages();
  expect(messages.filter(({ raw }) => raw.includes(token))).toEqual([]);
  const toEve = messages.filter(
    ({ recipients, subject = "" }) => recipients[0]?.startsWith("eve") && /glass/.test(subject),
  );
  expect(toEve).toEqual([]);
});
