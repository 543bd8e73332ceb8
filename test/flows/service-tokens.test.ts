import { makeLinkKey } from "@sealpush/age/link-key";
import { expect, test } from "vitest";
import { bearer, password, startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { countEveryone, stranger } from "../support/domain.ts";
import { changeRows, countRows, readRows } from "../support/engine-database.ts";
import { makeGroup, makeServiceToken } from "../support/groups.ts";
import { openMailSink } from "../support/mail-sink.ts";
import { scimClient, scimToken } from "../support/scim.ts";
import { startSignOnApp } from "../support/sign-on.ts";
import { type SignedInClient, signInClient } from "../support/signed-in-client.ts";
import { makeSweeper } from "../support/sweeper.ts";

const rootEmail = "root@example.com";
const allScopes = { may_create: "1", may_read: "1", may_expire: "1" };

/** A group whose pushes have at most 3 views, and its administrator. */
async function open(options: TestAppOptions = {}) {
  const app = await startTestApp(options);
  const root = await signInClient(app, rootEmail, { join: true, admin: true });
  const group = await makeGroup(app, "Deploy", [], { rules: { maxViews: 3 } });
  const path = `/admin/groups/${group.id}`;
  return { app, root, group, path };
}

const tokenIn = (html: string) => /id="token"[^>]* value="([^"]+)"/.exec(html)?.[1] ?? "";

async function makeToken(root: SignedInClient, path: string, form: Readonly<Record<string, string>> = allScopes) {
  const made = await root.post(`${path}/tokens`, { name: "pipeline", ...form });
  expect(made.status).toBe(201);
  return tokenIn(made.body);
}

async function create(app: TestApp, token: string, push: object = {}, address = "192.0.2.7") {
  const answer = await app.server.inject({
    method: "POST",
    url: "/api/v2/pushes",
    headers: bearer(token),
    remoteAddress: address,
    payload: { push: { payload: "hunter2", name: "Database of the shop", ...push } },
  });
  return { status: answer.statusCode, body: answer.json() };
}

const accountOf = async ({ app }: TestApp, groupId: number) => {
  const account = await app.domain.accounts.findServiceAccount(groupId);
  if (account === undefined) throw new Error("The group has no service account.");
  return account;
};

const trailOf = async ({ app }: TestApp) =>
  (await app.domain.accounts.listAdminEntries(1)).map(({ action, subject }) => `${action} ${subject}`).toReversed();

test("a service token makes pushes under the rules of its group, and belongs to nobody", async () => {
  const { app, root, group, path } = await open();
  await using _ = app;
  const token = await makeToken(root, path);
  expect((await create(app, token, { expire_after_views: 4 })).status).toBe(422);
  const { status, body } = await create(app, token, { expire_after_views: 3 });
  expect(status).toBe(201);
  const policy = await app.server.inject({ url: "/api/sealpush/policy", headers: bearer(token) });
  expect(policy.json()).toMatchObject({ max_views: 3, sources: [{ from: "group", name: "Deploy" }] });
  const account = await accountOf(app, group.id);
  const [row] = await readRows(app.app.domain.db, "SELECT owner_id, token_sealed FROM pushes");
  expect(row).toEqual({ owner_id: account.id, token_sealed: null });
  expect(await app.app.domain.pushes.claimView(body.url_token, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
  });
  const { recipient, check } = await makeLinkKey();
  const asked = await app.server.inject({
    method: "POST",
    url: "/api/sealpush/requests",
    headers: bearer(token),
    payload: { request: { title: "Key of the shop", recipient, encryption_check: check } },
  });
  expect(asked.statusCode).toBe(201);
  // Nobody signs in to the account, so a stored link would only be there for thieves.
  const requests = await readRows(app.app.domain.db, "SELECT owner_id, token_sealed FROM requests");
  expect(requests).toEqual([{ owner_id: account.id, token_sealed: null }]);
  expect(await trailOf(app)).toEqual(["made_service_token pipeline (Deploy)"]);

  const url = `/api/sealpush/requests/${asked.json().url_token}`;
  const shown = await app.server.inject({ url });
  expect([shown.statusCode, shown.json().asked_by]).toEqual([200, null]);
  expect((await app.server.inject({ method: "POST", url, payload: { payload: "s3cret" } })).statusCode).toBe(201);
  const answers = await app.server.inject({ url: `${url}/answers`, headers: bearer(token) });
  const [answer] = answers.json().pushes;
  const opened = await app.server.inject({ url: `/api/v2/pushes/${answer.url_token}`, headers: bearer(token) });
  expect(opened.json().payload).toContain("BEGIN AGE ENCRYPTED FILE");
});

test("a token for a group that was deleted meanwhile is not made, and neither is an account", async () => {
  const { app } = await open();
  await using _ = app;
  const { accounts, db } = app.app.domain;
  const client = { throttleKey: "192.0.2.7", address: "192.0.2.7", userAgent: "test" };
  const signedIn = await accounts.signIn({ email: rootEmail, password, client });
  const session = await accounts.authenticateSession(signedIn?.sessionToken ?? "");
  if (session === undefined) throw new Error("Nobody is signed in.");
  const users = await countRows(db, "users");
  const limits = { scopes: ["create"], expiresInDays: null, networks: [] } as const;
  const wanted = { groupId: 4711, name: "pipeline", limits, together: async () => undefined };
  const change = { session, client, proof: { typed: password, passkey: null } };
  expect(await accounts.createServiceToken(change, wanted)).toEqual({ outcome: "unknown" });
  expect(await countRows(db, "users")).toBe(users);
});

test("its scopes, networks and end are those it was made with, and an administrator revokes it", async () => {
  const { app, root, path } = await open();
  await using _ = app;
  const onlyCreates = { may_create: "1", may_read: "0", networks: "192.0.2.0/24", expires_in_days: "7" };
  const token = await makeToken(root, path, onlyCreates);
  expect((await create(app, token)).status).toBe(201);
  expect((await create(app, token, {}, "198.51.100.1")).status).toBe(401);
  const list = { url: "/api/v2/pushes/active", headers: bearer(token), remoteAddress: "192.0.2.7" };
  expect((await app.server.inject(list)).statusCode).toBe(403);
  const other = await makeToken(root, path);
  const page = (await root.get(`${path}/tokens`)).body;
  const [id = ""] = [...page.matchAll(/name="token" value="(\d+)"/g)].map(([, found]) => found ?? "");
  for (const token of ["", "x", "1.5", "1e400"]) {
    expect([token, (await root.post(`${path}/tokens/revoke`, { token })).status]).toEqual([token, 303]);
  }
  expect((await root.post(`${path}/tokens/revoke`, { token: id })).status).toBe(303);
  expect([(await create(app, other)).status, (await create(app, token)).status]).toEqual([401, 201]);
  app.clock.advance(7 * 24 * 60 * 60 * 1_000);
  expect((await create(app, token)).status).toBe(401);
  expect((await trailOf(app)).at(-1)).toBe("revoked_service_token pipeline (Deploy)");
});

test("a repeat with the same idempotency key creates nothing and says why it cannot answer the link again", async () => {
  const { app, root, path } = await open();
  await using _ = app;
  const headers = { ...bearer(await makeToken(root, path)), "idempotency-key": "a-random-key-of-this-test" };
  const push = { payload: "hunter2" };
  const send = () => app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } });
  expect((await send()).statusCode).toBe(201);
  const repeated = await send();
  expect([repeated.statusCode, repeated.json()]).toEqual([
    422,
    {
      idempotency_key: [
        "was used for a push that was created, whose link this server does not store and cannot answer again. " +
          "Send a new random key for each push.",
      ],
    },
  ]);
  expect(await countRows(app.app.domain.db, "pushes")).toBe(1);
});

test("under a rule that asks for notifications it creates nothing, which the pages say before", async () => {
  const sink = await openMailSink();
  const { app, root, path } = await open({ environment: { ...sink.environment, PWP__ALLOW_ANONYMOUS: "false" } });
  await using _ = app;
  const token = await makeToken(root, path);
  const none = "service tokens can create nothing";
  expect((await root.get(`${path}/tokens`)).body).not.toContain(none);
  const kinds = { kind_text: "1", kind_file: "1", kind_url: "1", kind_qr: "1", requests: "1" };
  const rules = { ...kinds, maxViews: "3", notifyOnViewRequired: "1", revision: "1" };
  const instance = await root.post("/admin/rules", { ...rules, revision: "0" });
  const warned = await root.post(`${path}/rules`, rules);
  for (const { status, body } of [instance, warned]) {
    expect([status, body.includes("Service tokens that can create nothing with these rules: 1.")]).toEqual([422, true]);
  }
  expect((await create(app, token)).status).toBe(201);
  const confirmed = /name="confirmed" value="([^"]*)"/.exec(warned.body)?.[1] ?? "";
  expect((await root.post(`${path}/rules`, { ...rules, confirmed })).status).toBe(303);
  for (const push of [{}, { notify_on_view: true }]) {
    const { status, body } = await create(app, token, push);
    expect([status, body.notify_on_view]).toEqual([
      422,
      ["needs a confirmed email address, which a service account does not have."],
    ]);
  }
  expect((await root.get(`${path}/tokens`)).body).toContain(none);
});

test("its maker has to prove it, and nobody else makes or sees one", async () => {
  const { app, root, path } = await open();
  await using _ = app;
  const ada = await signInClient(app, "ada@example.com", { join: true });
  for (const url of [`${path}/tokens`, `${path}/pushes`]) expect((await ada.get(url)).status).toBe(404);
  expect((await ada.post(`${path}/tokens`, { name: "mine" })).status).toBe(404);
  app.clock.advance(60 * 60 * 1_000);
  expect((await root.post(`${path}/tokens`, { name: "late" })).status).toBe(422);
  expect((await root.post(`${path}/tokens`, { name: "late", proof: "wrong" })).status).toBe(422);
  expect(await countRows(app.app.domain.db, "api_tokens")).toBe(0);
  expect((await root.post(`${path}/tokens`, { name: "late", proof: password })).status).toBe(201);
  expect((await root.post(`${path}/tokens`, { name: "", proof: password })).status).toBe(422);
  expect((await root.post("/admin/groups/999/tokens", { name: "gone", proof: password })).status).toBe(404);
});

test("administrators see names, states and the trail, and nobody's page or list has its links", async () => {
  const { app, root, group, path } = await open();
  await using _ = app;
  const token = await makeToken(root, path);
  const { url_token: urlToken } = (await create(app, token, { note: "for the shop" })).body;
  const list = (await root.get(`${path}/pushes`)).body;
  for (const text of ["Database of the shop", "Active"]) expect(list).toContain(text);
  const pushPath = /href="(\/admin\/pushes\/\d+)"/.exec(list)?.[1] ?? "";
  const trail = (await root.get(pushPath)).body;
  expect(trail).toContain("Service tokens of Deploy");
  const all = (await root.get("/admin/pushes")).body;
  for (const page of [list, trail, all]) {
    for (const secret of [urlToken, "hunter2", "for the shop"]) expect(page).not.toContain(secret);
  }
  // Another token of the account reads no link either: an administrator who makes one could open what the others made.
  const reader = await makeToken(root, path);
  const listed = await app.server.inject({ url: "/api/v2/pushes/active", headers: bearer(reader) });
  expect(listed.json()).toMatchObject([{ name: "Database of the shop", url_token: "" }]);
  const account = await accountOf(app, group.id);
  for (const page of [path, "/admin/users"]) {
    const { body } = await root.get(page);
    expect([page, body.includes(account.email), body.includes(String(account.id))]).toEqual([page, false, false]);
  }
  expect((await root.get(path)).body).toContain("Members: 0.");
});

test("nobody signs in to a service account, and nothing changes or mails to it", async () => {
  const { app, root, group, path } = await open({
    environment: { PWP__SCIM__TOKEN: scimToken },
  });
  await using _ = app;
  const token = await makeToken(root, path);
  const { id, email } = await accountOf(app, group.id);
  const { accounts, db } = app.app.domain;
  const client = { address: "192.0.2.1", userAgent: "", throttleKey: "192.0.2.1" };
  expect(await accounts.signIn({ email, password: "", client })).toBeUndefined();
  expect([await accounts.findUser(id), await accounts.findUserByEmail(email)]).toEqual([undefined, undefined]);
  for (const action of ["promote", "disable", "change_email", "reset_factors", "delete", "confirm"]) {
    expect([action, (await root.post(`/admin/users/${id}/${action}`, { email: rootEmail })).status]).toEqual([
      action,
      404,
    ]);
  }
  expect((await root.get(`/admin/users/${id}`)).status).toBe(404);
  expect((await root.post(`${path}/members/remove`, { user: String(id) })).status).toBe(404);
  expect((await root.post(`${path}/members`, { members: email })).status).toBe(422);
  await app.server.inject({ method: "POST", url: "/users/password", payload: { email } });
  expect(await countRows(db, "mailed_links")).toBe(0);
  const { ask, find } = scimClient(app);
  expect((await find(`userName eq "${email}"`)).body.totalResults).toBe(0);
  expect((await ask("GET", `/Users/${id}`)).status).toBe(404);
  expect((await ask("DELETE", `/Users/${id}`)).status).toBe(404);
  // It has no address that a recipient could be shown, or that a notification could go to.
  expect(Object.keys((await create(app, token, { sender_shown: true })).body)).toEqual(["sender_shown"]);
  expect(Object.keys((await create(app, token, { notify_on_view: true })).body)).toEqual(["notify_on_view"]);
  expect((await create(app, token)).status).toBe(201);
});

test("keeps working when its maker and every member of the group have left", async () => {
  const { app, root, group, path } = await open();
  await using _ = app;
  const token = await makeToken(root, path);
  await signInClient(app, "second@example.com", { join: true, admin: true });
  const { accounts, deleteAccount, groups } = app.app.domain;
  const { id = 0 } = (await accounts.findUserByEmail(rootEmail)) ?? {};
  expect(await groups.setMember({ userId: id, groupId: group.id, isMember: true }, async () => undefined)).toBe(true);
  const { token: own } = await accounts.createToken(id, "own");
  expect((await create(app, own)).status).toBe(201);
  expect(await deleteAccount(id, null)).toMatchObject({ outcome: "done" });
  expect([(await create(app, own)).status, (await create(app, token)).status]).toEqual([401, 201]);
  expect((await create(app, token, { expire_after_views: 4 })).status).toBe(422);
});

test("no sign-on at the provider leads to it", async () => {
  const { app, provider, signOn, newVisitor } = await startSignOnApp();
  const root = await signInClient(app, "root@example.com", { join: true, admin: true });
  const group = await makeGroup(app, "Deploy", []);
  await makeToken(root, `/admin/groups/${group.id}`);
  const { email, id } = await accountOf(app, group.id);
  provider.people.set("e-1", { email, email_verified: true });
  await signOn(newVisitor(), "e-1");
  expect(await readRows(app.app.domain.db, "SELECT user_id FROM identities WHERE user_id = ?", id)).toEqual([]);
  expect(await readRows(app.app.domain.db, "SELECT user_id FROM sessions WHERE user_id = ?", id)).toEqual([]);
});

test("works where everybody else needs a second factor", async () => {
  await using app = await startTestApp({ environment: { PWP__REQUIRE_MFA: "true" } });
  const group = await makeGroup(app, "Deploy", []);
  const token = await makeServiceToken(app, group.id, rootEmail);
  expect((await create(app, token)).status).toBe(201);
  expect(await countRows(app.app.domain.db, "users", "service_group_id IS NOT NULL")).toBe(1);
});

test("what somebody writes into the database makes no person of it, and no token of another group", async () => {
  const { app, root, group, path } = await open();
  await using _ = app;
  const token = await makeToken(root, path);
  const { db } = app.app.domain;
  for (const text of [
    "UPDATE users SET service_group_id = NULL WHERE id = ?",
    "UPDATE users SET admin = 1 WHERE id = ?",
  ]) {
    const { id } = await accountOf(app, group.id);
    await changeRows(db, text, id);
    expect((await create(app, token)).status).toBe(401);
    expect(await app.app.domain.accounts.findUser(id)).toBeUndefined();
    await changeRows(db, `UPDATE users SET service_group_id = ${group.id}, admin = 0 WHERE id = ?`, id);
    expect((await create(app, token)).status).toBe(201);
  }
  expect(app.logLines.join("")).toContain("users");
});

test("deleting the group says first what ends, and ends the tokens and their pushes", async () => {
  const { app, root, group, path } = await open();
  await using _ = app;
  const token = await makeToken(root, path);
  const { url_token: urlToken } = (await create(app, token)).body;
  const asked = await root.post(`${path}/delete`);
  expect(asked.body).toContain("Service tokens that stop working: 1. Active pushes of service tokens that end: 1.");
  const confirmed = /name="confirmed" value="([^"]*)"/.exec(asked.body)?.[1] ?? "";
  await makeToken(root, path);
  // There is one token more than the page has said.
  expect((await root.post(`${path}/delete`, { confirmed })).body).toContain("Service tokens that stop working: 2.");
  expect((await create(app, token)).status).toBe(201);
  expect((await root.post(`${path}/delete`, { confirmed: "0 2" })).location).toBe("/admin/groups");
  expect((await create(app, token)).status).toBe(401);
  const { pushes, accounts, db } = app.app.domain;
  expect(await pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({ outcome: "gone" });
  expect(await accounts.findServiceAccount(group.id)).toBeUndefined();
  expect(await countRows(db, "users", "service_group_id IS NOT NULL")).toBe(0);
  expect((await trailOf(app)).at(-1)).toBe("deleted_group Deploy");
});

test("pushes that service tokens make while their group is deleted are refused or end", async () => {
  const { app, root, group, path } = await open();
  await using _ = app;
  const token = await makeToken(root, path);
  const making = Array.from({ length: 10 }, () => create(app, token));
  const [removed, ...made] = await Promise.all([
    app.app.domain.deleteGroup(group.id, async () => undefined),
    ...making,
    ...Array.from({ length: 10 }, () => create(app, token)),
  ]);
  expect(removed).toBe(true);
  const { pushes, db } = app.app.domain;
  for (const { status, body } of made) {
    expect([201, 401]).toContain(status);
    if (status !== 201) continue;
    await makeSweeper({ domain: app.app.domain, clock: app.clock }).sweep();
    expect(await pushes.claimView(body.url_token, countEveryone, stranger)).toMatchObject({ outcome: "gone" });
  }
  expect(await countRows(db, "pushes", "owner_id IS NOT NULL")).toBe(0);
});
