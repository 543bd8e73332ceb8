import { expect, test } from "vitest";
import { bearer, password } from "../support/app.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { visit } from "../support/form-requests.ts";
import { scimClient, scimToken, shell, startScimApp } from "../support/scim.ts";
import { type SignOnApp, startSignOnApp } from "../support/sign-on.ts";

const email = "bob@example.com";

/** The claims of a provider whose tokens have `oid`, such as Microsoft. */
const oidClaims = { openid: ["sub", "oid", "email", "email_verified"], profile: ["name"], email: [] };

/** A server with single sign-on, whose provider also manages the accounts. */
async function startBoth(
  environment: Readonly<Record<string, string>> = {},
  shape?: Parameters<typeof startSignOnApp>[1],
) {
  const site = await startSignOnApp({ PWP__SCIM__TOKEN: scimToken, ...environment }, shape);
  const { accounts } = site.app.app.domain;
  return { site, accounts, ...scimClient(site.app) };
}

/** Signs on, so that the account is somebody's. */
async function use(site: SignOnApp, subject = "a-1", address = email, oid?: string) {
  site.provider.people.set(subject, { email: address, email_verified: true, ...(oid !== undefined && { oid }) });
  const visitor = site.newVisitor();
  await site.signOn(visitor, subject);
  expect(await visitor.signedInAs()).toBe(address);
  return visitor;
}

const status = async (app: SignOnApp["app"], token: string) =>
  (await app.server.inject({ url: "/p/active.json", headers: bearer(token) })).statusCode;

test("a disabled user's sessions and API tokens end, and do not come back", async () => {
  const { site, accounts, make, setActive } = await startBoth();
  const { id } = (await make(email, "a-1")).body;
  const visitor = await use(site);
  const { token } = await accounts.createToken(Number(id), "a token");
  expect(await status(site.app, token)).toBe(200);
  expect((await setActive(id, "False")).body.active).toBe(false);
  expect(await visitor.signedInAs()).toBeUndefined();
  expect(await status(site.app, token)).toBe(401);
  expect((await site.signOn(site.newVisitor(), "a-1")).statusCode).toBe(403);
  expect((await setActive(id, "True")).body.active).toBe(true);
  expect(await visitor.signedInAs()).toBeUndefined();
  expect(await status(site.app, token)).toBe(401);
  await use(site);
});

test("while the provider is down at sign-on, its changes over SCIM hold, and end sessions", async () => {
  const { site, find, make, setActive } = await startBoth();
  const visitor = await use(site);
  const returning = site.newVisitor();
  const callback = await site.goAndReturn(returning, "a-1");
  await site.provider.close();
  expect((await returning.get(callback)).statusCode).toBe(503);
  expect((await make("carol@example.com", "c-1")).status).toBe(201);
  const [{ id }] = (await find(`userName eq "${email}"`)).body.Resources;
  expect((await setActive(id, false)).status).toBe(200);
  expect(await visitor.signedInAs()).toBeUndefined();
});

test("SCIM enables only what it has disabled", async () => {
  const { accounts, make, ask, setActive } = await startScimApp();
  const { id } = (await make(email, "a-1")).body;
  const active = async () => (await ask("GET", `/Users/${id}`)).body.active;
  await accounts.setDisabled(Number(id), true, shell);
  await setActive(id, true);
  expect(await active()).toBe(false);
  await accounts.setDisabled(Number(id), false, shell);
  // An administrator's word holds for what SCIM disabled, too.
  await setActive(id, false);
  await accounts.setDisabled(Number(id), true, shell);
  expect((await setActive(id, true)).body.active).toBe(false);
  await accounts.setDisabled(Number(id), false, shell);
  await setActive(id, false);
  expect((await setActive(id, true)).body.active).toBe(true);
});

test("the last administrator is not disabled, and the first account is not made over SCIM", async () => {
  const { accounts, ask, make, remove, setActive } = await startScimApp();
  const { id } = (await make(email, "a-1")).body;
  await accounts.setAdmin(Number(id), true, shell);
  const admin = await accounts.findUserByEmail("admin@example.com");
  await accounts.setDisabled(admin?.id ?? 0, true, shell);
  for (const answer of [await setActive(id, false), await remove(id)]) expect(answer.status).toBe(409);
  expect((await ask("GET", `/Users/${id}`)).body.active).toBe(true);
  const empty = await startScimApp();
  await changeRows(empty.app.app.domain.db, "DELETE FROM users");
  expect((await empty.make(email)).status).toBe(403);
});

test("it sees the accounts that it made and those with an identity of the issuer, and never one of a break-glass link", async () => {
  const { site, accounts, ask, find, make, setActive, remove } = await startBoth();
  const total = async () => (await ask("GET", "/Users")).body.totalResults;
  await accounts.createUser({ email: "local@example.com", password, admin: false });
  expect(await total()).toBe(0);
  await use(site, "b-1", "carol@example.com");
  const { Resources: found } = (await find('userName eq "Carol@example.com"')).body;
  expect(found).toMatchObject([{ userName: "carol@example.com", active: true }]);
  expect(found[0]).not.toHaveProperty("externalId");
  const { id } = (await make(email, "a-1")).body;
  expect(await total()).toBe(2);
  const local = await accounts.findUserByEmail("local@example.com");
  expect((await ask("GET", `/Users/${local?.id}`)).status).toBe(404);
  await accounts.setAdmin(Number(id), true, shell);
  expect(await accounts.makeBreakGlassLink(Number(id), shell)).toMatchObject({ outcome: "made" });
  expect(await total()).toBe(1);
  for (const answer of [await ask("GET", `/Users/${id}`), await setActive(id, false), await remove(id)]) {
    expect(answer.status).toBe(404);
  }
  for (const answer of [await make(email, "a-2"), await make("new@example.com", "a-1")])
    expect(answer.status).toBe(409);
  expect((await find('externalId eq "a-1"')).body.totalResults).toBe(0);
});

test("an account of a break-glass link that an administrator disables later is nobody else's, whatever SCIM did before", async () => {
  const { accounts, ask, make, setActive, remove } = await startScimApp();
  const makeMarked = async (address: string, externalId: string, end: (id: string) => Promise<unknown>) => {
    const { id } = (await make(address, externalId)).body;
    await end(id);
    await accounts.setDisabled(Number(id), false, shell);
    await accounts.setAdmin(Number(id), true, shell);
    expect(await accounts.makeBreakGlassLink(Number(id), shell)).toMatchObject({ outcome: "made" });
    await accounts.setDisabled(Number(id), true, shell);
  };
  await makeMarked(email, "a-1", remove);
  expect((await make("new@example.com", "a-1")).status).toBe(409);
  expect((await make(email, "a-2")).status).toBe(409);
  await makeMarked("carol@example.com", "c-1", async (id) => {
    await ask("PATCH", `/Users/${id}`, {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "replace", value: { userName: "left@example.com" } }],
    });
    await setActive(id, false);
  });
  expect((await make("carol@example.com", "c-2")).status).toBe(409);
});

test("nothing of a used account changes but whether it is enabled", async () => {
  const { site, accounts, ask, make } = await startBoth();
  const { id } = (await make(email, "a-1")).body;
  await use(site);
  const before = await accounts.findUser(Number(id));
  const changed = {
    userName: "m@evil.example",
    emails: [{ value: "m@evil.example", primary: true }],
    password: "x",
    roles: ["admin"],
  };
  expect((await ask("PUT", `/Users/${id}`, changed)).body.userName).toBe("m@evil.example");
  expect(await accounts.findUser(Number(id))).toEqual(before);
});

test("the external id of a used account is only replaced by that of its own sign-on", async () => {
  const { site, make, patch, ask } = await startBoth();
  const { id } = (await make(email, "ext-1")).body;
  expect((await patch(id, { op: "replace", path: "externalId", value: "ext-2" })).status).toBe(200);
  await use(site);
  const refusals = [
    await patch(id, { op: "replace", path: "externalId", value: "ext-3" }),
    await patch(id, { op: "remove", path: "externalId" }),
    await patch(id, { op: "add", value: { externalId: "ext-3", active: true } }),
    await ask("PUT", `/Users/${id}`, { userName: email, externalId: "ext-3" }),
  ];
  for (const { body } of refusals) expect(body).toMatchObject({ status: "400", scimType: "mutability" });
  expect((await ask("PUT", `/Users/${id}`, { userName: email })).body.externalId).toBe("ext-2");
  expect((await patch(id, { op: "replace", path: "externalId", value: "a-1" })).body.externalId).toBe("a-1");
});

test("the external id of a used account may become the object id of its own sign-on, and nobody else's", async () => {
  const { site, find, patch } = await startBoth({}, oidClaims);
  await use(site, "a-1", email, "object-1");
  await use(site, "b-1", "carol@example.com", "object-2");
  const [{ id }] = (await find(`userName eq "${email}"`)).body.Resources;
  const claim = (value: string) => patch(id, { op: "replace", path: "externalId", value });
  expect((await claim("entered-first")).status).toBe(200);
  expect((await claim("object-2")).body).toMatchObject({ status: "400", scimType: "mutability" });
  expect((await claim("object-1")).body.externalId).toBe("object-1");
  expect((await find('externalId eq "object-1"')).body.Resources).toMatchObject([{ id }]);
});

test("a namesake does not get the account of somebody who was disabled", async () => {
  const { site, find, patch, setActive } = await startBoth();
  await use(site);
  const [{ id }] = (await find(`userName eq "${email}"`)).body.Resources;
  await setActive(id, false);
  const reopened = await patch(id, { op: "Replace", value: { externalId: "namesake", active: true } });
  expect(reopened.status).toBe(400);
  expect((await find(`userName eq "${email}"`)).body.Resources).toMatchObject([{ active: false }]);
});

test("a user name is never the address or the user name of another account", async () => {
  const { accounts, ask, make, patch } = await startScimApp();
  await accounts.createUser({ email: "local@example.com", password, admin: false });
  const { id } = (await make(email, "a-1")).body;
  await make("carol@example.com", "b-1");
  for (const userName of ["local@example.com", "LOCAL@example.com", "carol@example.com"]) {
    for (const answer of [
      await patch(id, { op: "replace", path: "userName", value: userName }),
      await ask("PUT", `/Users/${id}`, { userName }),
    ]) {
      expect(answer.body).toMatchObject({ status: "409", scimType: "uniqueness" });
    }
  }
  await patch(id, { op: "replace", path: "userName", value: "bob.l@example.com" });
  expect((await make("bob.l@example.com")).status).toBe(409);
  // The old name is still the address of the account.
  expect((await make(email)).status).toBe(409);
});

test("a deleted user comes back by the external id; another one makes a new account, and the old one loses address and links", async () => {
  const { site, accounts, ask, find, make, remove } = await startBoth();
  const { id } = (await make(email, "a-1")).body;
  await use(site);
  const { token } = await accounts.createToken(Number(id), "a token");
  await site.app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: bearer(token),
    payload: { push: { payload: "hunter2" } },
  });
  await remove(id);
  expect(await accounts.findUser(Number(id))).toMatchObject({ email, disabledAt: expect.any(Number) });
  const again = await make(email, "a-1");
  expect([again.status, again.body.id, again.body.active]).toEqual([201, id, true]);
  await use(site);
  await remove(id);

  const other = await make(email, "namesake");
  expect(other.status).toBe(201);
  expect(other.body.id).not.toBe(id);
  expect((await accounts.findUser(Number(id)))?.email).toBe(`${id}@released.invalid`);
  const { token: next } = await accounts.createToken(Number(id), "another token");
  expect((await find(`userName eq "${email}"`)).body.Resources).toMatchObject([{ id: other.body.id }]);
  // The person with the old identity does not get the namesake's account.
  expect((await site.signOn(site.newVisitor(), "a-1")).statusCode).toBe(403);

  expect((await make(email, "a-1")).status).toBe(409);
  const back = await make("bob.l@example.com", "a-1");
  expect([back.status, back.body.id]).toEqual([201, id]);
  expect((await accounts.findUser(Number(id)))?.email).toBe("bob.l@example.com");
  const visitor = site.newVisitor();
  await site.signOn(visitor, "a-1");
  expect(await visitor.signedInAs()).toBe("bob.l@example.com");
  const pushes = (await site.app.server.inject({ url: "/api/v2/pushes/active", headers: bearer(next) })).json();
  expect(pushes.map((push: object) => Reflect.get(push, "url_token"))).toEqual([""]);
  expect((await ask("GET", `/Users/${id}`)).body.userName).toBe("bob.l@example.com");
});

test("an address that SCIM gave to a used account gets no link for a new password", async () => {
  const mails = { PWP__MAIL__SMTP_ADDRESS: "127.0.0.1", PWP__ENABLE_USER_ACCOUNT_EMAILS: "true" };
  const { site, accounts, make, remove } = await startBoth(mails);
  const { id } = (await make(email, "a-1")).body;
  await use(site);
  await remove(id);
  await make(email, "namesake");
  await make("mallory@example.com", "a-1");
  expect((await accounts.findUser(Number(id)))?.email).toBe("mallory@example.com");
  const links = () =>
    readRows(site.app.app.domain.db, "SELECT user_id FROM mailed_links WHERE user_id = ?", Number(id));
  const asked = async () => (await visit(site.app, "/users/password/new", { email: "mallory@example.com" })).status;
  expect(await asked()).toBe(200);
  expect(await links()).toEqual([]);
  // Without what SCIM has said, it would get one.
  await changeRows(site.app.app.domain.db, "DELETE FROM scim_users");
  expect(await asked()).toBe(200);
  expect(await links()).toHaveLength(1);
});

test("Entra renames whom it deletes; the name is free for somebody else, and the address stays until then", async () => {
  const { accounts, make, patch, remove, setActive } = await startScimApp();
  const { id } = (await make(email, "a-1")).body;
  await setActive(id, "False");
  const renamed = `0123456789abcdef0123456789abcdef${email}`;
  const answer = await patch(id, { op: "Replace", path: "userName", value: renamed });
  expect(answer.body).toMatchObject({ userName: renamed, active: false });
  expect((await accounts.findUser(Number(id)))?.email).toBe(email);
  const other = (await make(email, "namesake")).body;
  expect(other.id).not.toBe(id);
  expect((await accounts.findUser(Number(id)))?.email).toBe(`${id}@released.invalid`);
  // Restored at the provider with a new name.
  const back = await patch(id, { op: "Replace", value: { userName: "bob2@example.com", active: "True" } });
  expect(back.body).toMatchObject({ userName: "bob2@example.com", active: true });
  expect((await accounts.findUser(Number(id)))?.email).toBe("bob2@example.com");
  expect((await remove(id)).status).toBe(204);
  // Whom an administrator disabled has not left, whatever the provider calls the account.
  const { id: disabled } = (await make("carol@example.com", "c-1")).body;
  await accounts.setDisabled(Number(disabled), true, shell);
  await patch(disabled, { op: "Replace", path: "userName", value: "c0ffee-carol@example.com" });
  expect((await make("carol@example.com", "namesake of carol")).status).toBe(409);
  expect((await accounts.findUser(Number(disabled)))?.email).toBe("carol@example.com");
});

test("the first sign-on links an account that nobody has used, by sub, by oid, or by its user name", async () => {
  const { site, accounts, make, patch } = await startBoth({}, oidClaims);
  const people = site.provider.people;
  const signsInAs = async (subject: string) => {
    const visitor = site.newVisitor();
    await site.signOn(visitor, subject);
    return visitor.signedInAs();
  };
  await make("sub@example.com", "s-1");
  people.set("s-1", {});
  expect(await signsInAs("s-1")).toBe("sub@example.com");
  await make("oid@example.com", "object-1");
  people.set("o-1", { oid: "object-1", email: "other@example.com" });
  expect(await signsInAs("o-1")).toBe("oid@example.com");
  const { id } = (await make("name@example.com", "unrelated")).body;
  await patch(id, { op: "replace", path: "userName", value: "renamed@example.com" });
  people.set("n-1", { email: "name@example.com", email_verified: true });
  expect(await signsInAs("n-1")).toBeUndefined();
  people.set("n-2", { email: "renamed@example.com", email_verified: true });
  expect(await signsInAs("n-2")).toBe("name@example.com");
  // The address of a token does not prove itself.
  await make("unproven@example.com", "unrelated-2");
  people.set("u-1", { email: "unproven@example.com" });
  expect(await signsInAs("u-1")).toBeUndefined();
  // Nor is an administrator's account anybody's whom SCIM names.
  const admin = (await make("boss@example.com", "mallory")).body;
  await accounts.setAdmin(Number(admin.id), true, shell);
  const other = await patch(admin.id, { op: "replace", path: "externalId", value: "m-2" });
  expect(other.body).toMatchObject({ status: "400", scimType: "mutability" });
  people.set("mallory", {});
  expect(await signsInAs("mallory")).toBeUndefined();
});

test("an account that somebody has used asks, whatever SCIM says", async () => {
  const { site, accounts, make } = await startBoth();
  const { id } = (await make(email, "m-1")).body;
  await accounts.createToken(Number(id), "a token");
  site.provider.people.set("m-1", { email, email_verified: true });
  expect((await site.signOn(site.newVisitor(), "m-1")).headers.location).toBe("/users/auth/oidc/confirm");
});

test("the trail has each real change, and nothing else", async () => {
  const { accounts, make, patch, ask, setActive, remove, trail } = await startScimApp();
  const { id } = (await make(email, "a-1")).body;
  await setActive(id, true);
  await ask("PUT", `/Users/${id}`, { userName: email, externalId: "a-1", active: true });
  await setActive(id, false);
  await setActive(id, false);
  await setActive(id, true);
  await patch(id, { op: "replace", path: "userName", value: "bob.l@example.com" });
  await remove(id);
  await make(email, "namesake");
  expect(await trail()).toEqual([
    `scim_created ${email}`,
    `scim_disabled ${email}`,
    `scim_enabled ${email}`,
    `scim_changed ${email}`,
    `scim_deleted ${email}`,
    `scim_changed ${email} -> ${id}@released.invalid`,
    `scim_created ${email}`,
  ]);
  const [entry] = await accounts.listAdminEntries(1);
  expect(entry).toMatchObject({ adminId: null, adminEmail: "SCIM", address: "127.0.0.1" });
});

test("what SCIM keeps is in the download of the account's data, and gone with the account", async () => {
  const { site, accounts, make } = await startBoth();
  const { id } = (await make(email, "a-1")).body;
  const visitor = await use(site);
  const data = JSON.parse((await visitor.get("/users/edit/data")).body);
  expect(data.scim).toEqual({ user_name: email, external_id: "a-1" });
  await accounts.deleteUser(Number(id), null);
  expect(await readRows(site.app.app.domain.db, "SELECT id FROM scim_users")).toEqual([]);
});

test("SCIM fills at most a thousand entries of the trail, and displaces no others", async () => {
  const { app, accounts, make } = await startScimApp();
  const { db } = app.app.domain;
  await accounts.recordAccess("read_trail", "", shell);
  await changeRows(
    db,
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1100)
     INSERT INTO admin_audit_entries (created_at, admin_id, admin_email, action, subject, address)
     SELECT 0, NULL, 'SCIM', 'scim_changed', 'x', '' FROM numbers`,
  );
  await make(email);
  const entries = await readRows<{ action: string; count: number }>(
    db,
    "SELECT action, count(*) AS count FROM admin_audit_entries GROUP BY action ORDER BY action",
  );
  expect(entries.map(({ action, count }) => [action, Number(count)])).toEqual([
    ["read_trail", 1],
    ["scim_changed", 999],
    ["scim_created", 1],
  ]);
});
