import { expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { makeGroup } from "../support/groups.ts";
import { createOwnedPushes } from "../support/owned-pushes.ts";
import { signInClient } from "../support/signed-in-client.ts";

const rootEmail = "root@example.com";

async function join(app: TestApp, email: string) {
  const client = await signInClient(app, email, { join: true });
  const { id = 0 } = (await app.app.domain.accounts.findUserByEmail(email)) ?? {};
  return { ...client, id };
}

/** A group with the owner of pushes and Bob, and Eve, who is in no group. */
async function open(sharesActivity: boolean) {
  const app = await startTestApp();
  const owned = await createOwnedPushes(app);
  const [bob, eve] = [await join(app, "bob@example.com"), await join(app, "eve@example.com")];
  const group = await makeGroup(app, "Helpdesk", [owned.userId, bob.id], { sharesActivity });
  const list = `/groups/${group.id}`;
  const member = `${list}/members/${owned.userId}`;
  const pushes = owned.ids.push.map((id) => `${member}/pushes/${id}`);
  return { app, owned, bob, eve, group, pages: [list, member, ...pushes] };
}

async function statusesOf(
  client: { get(url: string): Promise<{ readonly status: number }> },
  pages: readonly string[],
) {
  return [...new Set(await Promise.all(pages.map(async (url) => (await client.get(url)).status)))];
}

test("is off by default, and nobody sees any", async () => {
  const { app, owned, bob, pages } = await open(false);
  await using _ = app;
  expect(await statusesOf(bob, pages)).toEqual([404]);
  expect(await statusesOf(owned.person, pages)).toEqual([404]);
  expect((await bob.get("/p")).body).toContain("Only you can see names and notes.");
});

test("members see names, states and trails of each other's pushes, never links or content", async () => {
  const { app, owned, bob, eve, pages } = await open(true);
  await using _ = app;
  const seen = new Set<string>();
  for (const url of pages) {
    const { status, body } = await bob.get(url);
    expect([url, status]).toEqual([url, 200]);
    for (const name of owned.canaries.namesIn(Buffer.from(body))) seen.add(name);
    for (const urlToken of owned.urlTokens) expect(body).not.toContain(urlToken);
  }
  expect([...seen].sort()).toEqual(["address", "email", "push's name", "referrer", "user agent"]);
  const [list = "", member = "", push = ""] = pages;
  expect((await bob.get(list)).body).toContain(`href="${member}"`);
  const [pushesPage, trail] = [(await bob.get(member)).body, (await bob.get(push)).body];
  for (const text of ["Active", `href="${push}"`]) expect(pushesPage).toContain(text);
  for (const text of ["The owner created this push", "Active"]) expect(trail).toContain(text);
  expect(await statusesOf(eve, pages)).toEqual([404]);
});

test("the owner reads on the list of pushes who else sees their names", async () => {
  const { app, owned, group } = await open(true);
  await using _ = app;
  const { body } = await owned.person.get("/p");
  expect(body).toContain("Members of Helpdesk see the names, states and audit trails of your pushes");
  expect(body).not.toContain("Only you can see names and notes.");
  expect(body).toContain(`href="/groups/${group.id}"`);
});

test("only of members, and a push only under its owner", async () => {
  const { app, owned, bob, eve, group } = await open(true);
  await using _ = app;
  const [pushId] = owned.ids.push;
  const list = `/groups/${group.id}`;
  const unknown = [
    `${list}/members/${eve.id}`,
    `${list}/members/987654321`,
    `${list}/members/x`,
    `${list}/members/${bob.id}/pushes/${pushId}`,
    `${list}/members/${owned.userId}/pushes/987654321`,
    "/groups/987654321",
  ];
  expect(await statusesOf(bob, unknown)).toEqual([404]);
  await makeGroup(app, "Other", [eve.id, bob.id], { sharesActivity: false });
  expect(await statusesOf(bob, unknown)).toEqual([404]);
});

test("a member who is removed loses it at once in every process, and so do the others", async () => {
  const { app, owned, bob, group, pages } = await open(true);
  await using _ = app;
  await using other = await startTestApp({ dataDir: app.dataDir, clock: app.clock });
  const headers = { cookie: bob.cookie() };
  const elsewhere = async () =>
    await Promise.all(pages.map(async (url) => (await other.server.inject({ url, headers })).statusCode));
  expect(new Set(await elsewhere())).toEqual(new Set([200]));
  const member = { userId: bob.id, groupId: group.id };
  await app.app.domain.groups.setMember({ ...member, isMember: false }, async () => undefined);
  expect([await statusesOf(bob, pages), new Set(await elsewhere())]).toEqual([[404], new Set([404])]);
  const ofBob = `/groups/${group.id}/members/${bob.id}`;
  expect((await owned.person.get(ofBob)).status).toBe(404);
  await app.app.domain.groups.setMember({ ...member, isMember: true }, async () => undefined);
  expect((await owned.person.get(ofBob)).status).toBe(200);
  await app.app.domain.groups.remove(group.id, async () => undefined);
  expect([await statusesOf(bob, pages), new Set(await elsewhere())]).toEqual([[404], new Set([404])]);
});

test("pushes of service tokens are nobody's activity", async () => {
  const { app, bob, group } = await open(true);
  await using _ = app;
  const root = await signInClient(app, rootEmail, { join: true, admin: true });
  expect((await root.post(`/admin/groups/${group.id}/tokens`, { name: "pipeline", may_create: "1" })).status).toBe(201);
  const account = await app.app.domain.accounts.findServiceAccount(group.id);
  expect((await bob.get(`/groups/${group.id}`)).body).not.toContain(String(account?.id));
  expect((await bob.get(`/groups/${group.id}/members/${account?.id}`)).status).toBe(404);
});

test("administrators turn it on and off in the page of the group, which is an entry of their trail", async () => {
  const { app, bob, group, pages } = await open(false);
  await using _ = app;
  const root = await signInClient(app, rootEmail, { join: true, admin: true });
  const path = `/admin/groups/${group.id}`;
  const isChecked = async () => /id="sharesActivity"[^>]* checked/.test((await root.get(path)).body);
  expect(await isChecked()).toBe(false);
  expect((await root.post(path, { name: "Helpdesk", sharesActivity: "1" })).status).toBe(303);
  expect([await isChecked(), await statusesOf(bob, pages)]).toEqual([true, [200]]);
  expect((await root.post(path, { name: "Helpdesk", sharesActivity: "0" })).status).toBe(303);
  expect([await isChecked(), await statusesOf(bob, pages)]).toEqual([false, [404]]);
  const entries = await app.app.domain.accounts.listAdminEntries(1);
  expect(entries.map(({ action, subject }) => `${action} ${subject}`).toReversed()).toEqual([
    "changed_group Helpdesk → Helpdesk, sharesActivity: true",
    "changed_group Helpdesk, sharesActivity: true → Helpdesk",
  ]);
});

test.each([
  ["the setting", "UPDATE user_groups SET shares_activity = 1 WHERE id = ?"],
  [
    "a membership",
    "UPDATE group_members SET user_id = (SELECT id FROM users WHERE email = 'eve@example.com') WHERE group_id = ? AND user_id = (SELECT id FROM users WHERE email = 'bob@example.com')",
  ],
])("%s that somebody writes into the database shows nothing, and is reported", async (what, text) => {
  const { app, bob, eve, group, pages } = await open(what === "a membership");
  await using _ = app;
  await changeRows(app.app.domain.db, text, group.id);
  expect(await statusesOf(what === "a membership" ? eve : bob, pages)).toEqual([404]);
  expect(app.logLines.join("")).toContain("forged_row_refused");
  expect(await readRows(app.app.domain.db, "SELECT count(*) AS n FROM user_groups")).toEqual([{ n: 1 }]);
});
