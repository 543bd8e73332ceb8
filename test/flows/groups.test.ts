import { describe, expect, test } from "vitest";
import { AccessKeys } from "../../src/crypto/access-keys.ts";
import { noRules, type Policy, type PolicyScope } from "../../src/policies/policies.ts";
import { createPolicyStore } from "../../src/policies/store/policies.ts";
import { renewPolicies } from "../../src/policies/store/tables.ts";
import { rootEmail } from "../support/administrators.ts";
import { bearer, startTestApp, type TestApp } from "../support/app.ts";
import { openTestDomain, type TestDomain } from "../support/domain.ts";
import { changeRows, readRows } from "../support/engine-database.ts";
import { makeGroup } from "../support/groups.ts";
import { signInClient } from "../support/signed-in-client.ts";

const form = { kind_text: "1", kind_file: "1", kind_url: "1", kind_qr: "1", requests: "1", revision: "0" };
const administrator = (app: TestApp, email = rootEmail) => signInClient(app, email, { join: true, admin: true });

async function user(app: TestApp, email: string) {
  const token = await app.makeToken(email);
  const id = (await app.app.domain.accounts.findUserByEmail(email))?.id ?? 0;
  const headers = bearer(token);
  const policy = async () => (await app.server.inject({ url: "/api/sealpush/policy", headers })).json();
  const create = async (push: object) =>
    (await app.server.inject({ method: "POST", url: "/api/v2/pushes", headers, payload: { push } })).statusCode;
  return { id, email, policy, create };
}

async function trailOf(app: TestApp): Promise<readonly string[]> {
  const entries = await app.app.domain.accounts.listAdminEntries(1);
  return entries.map(({ action, subject }) => `${action} ${subject}`);
}

const idIn = (location: string | undefined) => Number(/\/admin\/groups\/(\d+)/.exec(location ?? "")?.[1]);
const confirmedIn = (html: string) => /name="confirmed" value="([^"]*)"/.exec(html)?.[1] ?? "";
const groupRows = (app: TestApp) => readRows(app.app.domain.db, "SELECT * FROM group_members");

describe("groups", () => {
  test("administrators make one, add members and set its rules, which hold for its members at once", async () => {
    await using app = await startTestApp();
    const root = await administrator(app);
    const [ada, bob] = [await user(app, "ada@example.com"), await user(app, "bob@example.com")];
    expect((await ada.policy()).sources).toEqual([]);
    const made = await root.post("/admin/groups", { name: " Helpdesk " });
    const id = idIn(made.location);
    expect([made.status, (await root.get("/admin/groups")).body.includes("Helpdesk")]).toEqual([303, true]);
    expect((await root.post(`/admin/groups/${id}/members`, { members: "ada@example.com" })).status).toBe(303);
    const rules = `/admin/groups/${id}/rules`;
    expect((await root.get(rules)).body).toContain("People they apply to now: 1.");
    const warned = await root.post(rules, { ...form, maxViews: "3" });
    // People who are not signed in have no group.
    expect([warned.status, warned.body.includes("these rules do not hold for them: Maximum number of views.")]).toEqual(
      [422, true],
    );
    const confirmed = confirmedIn(warned.body);
    expect((await root.post(rules, { ...form, maxViews: "3", confirmed })).location).toBe(`${rules}?done=saved`);
    expect(await ada.policy()).toMatchObject({ max_views: 3, sources: [{ from: "group", name: "Helpdesk" }] });
    expect([await ada.create({ payload: "x", expire_after_views: 4 }), await ada.create({ payload: "x" })]).toEqual([
      422, 201,
    ]);
    expect([(await bob.policy()).max_views, await bob.create({ payload: "x", expire_after_views: 4 })]).toEqual([
      null,
      201,
    ]);
    expect((await root.post(`/admin/groups/${id}`, { name: "Support" })).status).toBe(303);
    for (const user of ["", "x", "1.5", "1e400"]) {
      expect([user, (await root.post(`/admin/groups/${id}/members/remove`, { user })).status]).toEqual([user, 404]);
    }
    expect((await root.post(`/admin/groups/${id}/members/remove`, { user: String(ada.id) })).status).toBe(303);
    expect((await ada.policy()).sources).toEqual([]);
    expect((await trailOf(app)).toReversed()).toEqual([
      "created_group Helpdesk",
      "added_member ada@example.com (Helpdesk)",
      "changed_rules Helpdesk: maxViews: null → 3",
      "changed_group Helpdesk → Support",
      "removed_member ada@example.com (Support)",
    ]);
  });

  test("rules of the settings, the instance and every group hold together", async () => {
    await using app = await startTestApp({ environment: { PWP__POLICY__MAX_VIEWS: "9" } });
    const { policies } = app.app.domain;
    const ada = await user(app, "ada@example.com");
    await makeGroup(app, "Second", [ada.id], { rules: { kinds: ["url", "text"], passphraseMinLength: 8 } });
    await makeGroup(app, "First", [ada.id], { rules: { kinds: ["text", "file"], maxMinutes: 60 } });
    await makeGroup(app, "Other", [], { rules: { kinds: [] } });
    const { policy } = await policies.read("instance");
    await policies.save("instance", { policy: { ...policy, maxMinutes: 30 }, revision: 0 }, async () => undefined);
    expect(await ada.policy()).toMatchObject({
      ...{ max_views: 9, max_minutes: 30, kinds: ["text"], passphrase: { min_length: 8 } },
      sources: [
        { from: "settings" },
        { from: "instance" },
        { from: "group", name: "First" },
        { from: "group", name: "Second" },
      ],
    });
  });

  test("users who are in no group are in the group of everybody else", async () => {
    await using app = await startTestApp();
    const root = await administrator(app);
    const [ada, bob] = [await user(app, "ada@example.com"), await user(app, "bob@example.com")];
    await makeGroup(app, "Helpdesk", [ada.id]);
    const path = "/admin/groups/else/rules";
    expect((await root.get(path)).body).toContain("People they apply to now: 2.");
    const confirmed = confirmedIn((await root.post(path, { ...form, maxViews: "2" })).body);
    expect((await root.post(path, { ...form, maxViews: "2", confirmed })).status).toBe(303);
    expect(await bob.policy()).toMatchObject({ max_views: 2, sources: [{ from: "group", name: "Everybody else" }] });
    expect((await ada.policy()).max_views).toBeNull();
    expect((await app.server.inject({ url: "/api/sealpush/policy" })).json().max_views).toBeNull();
  });

  test("deleting one says whose rules get weaker, and takes its rules along", async () => {
    await using app = await startTestApp();
    const root = await administrator(app);
    const [ada, bob] = [await user(app, "ada@example.com"), await user(app, "bob@example.com")];
    const { id } = await makeGroup(app, "Helpdesk", [ada.id, bob.id], { rules: { maxViews: 3 } });
    await makeGroup(app, "Strict", [bob.id], { rules: { maxViews: 1 } });
    const asked = await root.post(`/admin/groups/${id}/delete`);
    expect(asked.body).toContain("People whose rules get weaker: 1.");
    expect([asked.body.includes("ada@example.com"), asked.body.includes("bob@example.com")]).toEqual([true, false]);
    expect((await ada.policy()).max_views).toBe(3);
    const confirmed = confirmedIn(asked.body);
    expect((await root.post(`/admin/groups/${id}/delete`, { confirmed })).location).toBe("/admin/groups");
    expect([(await ada.policy()).max_views, (await bob.policy()).max_views]).toEqual([null, 1]);
    expect((await root.get(`/admin/groups/${id}`)).status).toBe(404);
    expect((await root.post(`/admin/groups/${id}/rules`, form)).status).toBe(404);
    const left = await readRows(app.app.domain.db, "SELECT scope FROM policies WHERE group_id = ?", id);
    expect([left, await trailOf(app)]).toEqual([[], ["deleted_group Helpdesk"]]);
  });

  test("a name is used once and not that of everybody else, and nobody is added by an unknown address", async () => {
    await using app = await startTestApp();
    const root = await administrator(app);
    const { id } = await makeGroup(app, "Helpdesk", []);
    for (const name of ["Helpdesk", "everybody ELSE", "", "a".repeat(65), "a\u202eb"]) {
      expect([name, (await root.post("/admin/groups", { name })).status]).toEqual([name, 422]);
    }
    const members = `${rootEmail}, nobody@example.com`;
    const refused = await root.post(`/admin/groups/${id}/members`, { members });
    expect([
      refused.status,
      refused.body.includes("There is no account with this address: nobody@example.com."),
    ]).toEqual([422, true]);
    expect(await groupRows(app)).toEqual([]);
  });

  test("there are at most 200", async () => {
    await using app = await startTestApp();
    const root = await administrator(app);
    await makeGroup(app, "Helpdesk", []);
    await changeRows(
      app.app.domain.db,
      `INSERT INTO user_groups (id, name, claim, shares_activity, created_at)
       WITH RECURSIVE ids(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM ids WHERE number < 198)
       SELECT -number, 'copy ' || number, NULL, 0, 0 FROM ids`,
    );
    expect((await root.post("/admin/groups", { name: "the last one" })).status).toBe(303);
    expect((await root.post("/admin/groups", { name: "too many" })).status).toBe(422);
  });

  test("one of 10,000 members is found, and the list has pages", async () => {
    await using app = await startTestApp();
    const root = await administrator(app);
    const { id } = await makeGroup(app, "Everyone", [], { rules: { maxViews: 3 } });
    const count = 10_000;
    const columns = "id, email, has_password, second_factors, admin, created_at, updated_at";
    await changeRows(
      app.app.domain.db,
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       INSERT INTO users (${columns}) SELECT i, 'u' || (10000 + i) || '@example.com', 0, 0, 0, 0, 0 FROM n`,
    );
    await changeRows(
      app.app.domain.db,
      `INSERT INTO group_members (user_id, group_id, by_claim, added_at) SELECT id, ?, 0, 0 FROM users WHERE id <= ${count}`,
      id,
    );
    // PostgreSQL does it by itself within a minute.
    for (const table of ["users", "group_members"]) await changeRows(app.app.domain.db, `ANALYZE ${table}`);
    const first = (await root.get(`/admin/groups/${id}`)).body;
    expect(first).toContain("Members: 10,000.");
    expect([...first.matchAll(/u\d{5}@example\.com<\/a>/g)]).toHaveLength(100);
    expect((await root.get(`/admin/groups/${id}?page=100`)).body).toContain("u20000@example.com");
    const found = (await root.get(`/admin/groups/${id}?q=U15000`)).body;
    expect([...found.matchAll(/u\d{5}@example\.com<\/a>/g)]).toHaveLength(1);
    expect((await root.post(`/admin/groups/${id}/delete`)).body).toContain("People whose rules get weaker: 10,000.");
  });

  test("deleting an account ends its memberships, and its owner reads of them in the export", async () => {
    await using app = await startTestApp();
    const ada = await signInClient(app, "ada@example.com", { join: true });
    const { accounts, deleteAccount } = app.app.domain;
    const { id = 0 } = (await accounts.findUserByEmail("ada@example.com")) ?? {};
    await makeGroup(app, "Helpdesk", [id]);
    const { groups } = JSON.parse((await ada.get("/users/edit/data")).body);
    expect(groups).toEqual([{ name: "Helpdesk", by: "administrator", added_at: expect.stringMatching(/Z$/) }]);
    expect(await deleteAccount(id, null)).toMatchObject({ outcome: "done" });
    expect(await groupRows(app)).toEqual([]);
  });
});

describe("what somebody writes into the database", () => {
  test.each([
    ["a membership of somebody else", "UPDATE group_members SET user_id = ?", "group_members", "bob"],
    [
      "a membership that claims to be by claim",
      "UPDATE group_members SET by_claim = 1 WHERE user_id <> ?",
      "group_members",
      "ada",
    ],
    ["a group with another name", "UPDATE user_groups SET name = 'Other' WHERE id <> ?", "user_groups", "ada"],
    ["other rules", "UPDATE policies SET rules = '{}' WHERE revision <> ?", "policies", "ada"],
  ])(
    "loosens nothing: whom it is about can create nothing, and it is reported: %s",
    async (_what, text, table, whom) => {
      await using app = await startTestApp();
      const [ada, bob] = [await user(app, "ada@example.com"), await user(app, "bob@example.com")];
      await makeGroup(app, "Helpdesk", [ada.id], { rules: { maxViews: 3 } });
      expect((await ada.policy()).max_views).toBe(3);
      await changeRows(app.app.domain.db, text, bob.id);
      app.app.domain.policies.forget();
      const [about, other] = whom === "ada" ? [ada, bob] : [bob, ada];
      expect(await about.policy()).toMatchObject({ kinds: [], requests: false, mail_domains: [] });
      expect(await about.create({ payload: "x" })).toBe(422);
      expect(await other.create({ payload: "x" })).toBe(201);
      expect(app.logLines.join("")).toContain(table);
    },
  );
});

test("replacing the access secret keeps groups, members and rules, and no forged row becomes valid", async () => {
  await using app = await startTestApp();
  const [ada, bob] = [await user(app, "ada@example.com"), await user(app, "bob@example.com")];
  const { id } = await makeGroup(app, "Helpdesk", [ada.id], { rules: { maxViews: 3 } });
  const { db, vault } = app.app.domain;
  await changeRows(
    db,
    "INSERT INTO group_members (user_id, group_id, by_claim, added_at, mac) SELECT ?, group_id, 0, 0, mac FROM group_members",
    bob.id,
  );
  const fresh = new AccessKeys(Buffer.alloc(32, 9), () => undefined);
  await db.writeSerialized("accounts", (tx) => renewPolicies(tx, vault.access, fresh));
  const policies = createPolicyStore(db, fresh);
  const group = { name: "Helpdesk", policy: { revision: 1, rules: expect.stringContaining('"maxViews":3') } };
  expect((await policies.readOfCaller(ada.id)).groups).toMatchObject([group]);
  expect((await policies.readOfCaller(bob.id)).groups).toEqual([]);
  expect(await createPolicyStore(db, vault.access).read({ groupId: id })).toBe("forged");
});

test("whatever one process changes holds in another one within a second", async () => {
  await using app = await startTestApp();
  await using other = await openTestDomain({ dataDir: app.dataDir, clock: app.clock });
  const ada = await user(app, "ada@example.com");
  const { groups, policies } = app.app.domain;
  const { id } = await makeGroup(app, "Helpdesk", []);
  const save = async (scope: PolicyScope, rules: Partial<Policy>) => {
    const { revision } = await policies.read(scope);
    expect(await policies.save(scope, { policy: { ...noRules, ...rules }, revision }, unrecorded)).toBe(true);
  };
  const setMember = (isMember: boolean) => groups.setMember({ userId: ada.id, groupId: id, isMember }, unrecorded);
  const changes: readonly (readonly [() => Promise<unknown>, number | null])[] = [
    [() => save("instance", { maxViews: 9 }), 9],
    [() => save("everybody else", { maxViews: 8 }), 8],
    [() => setMember(true), 9],
    [() => save({ groupId: id }, { maxViews: 3 }), 3],
    [() => setMember(false), 8],
    [() => setMember(true), 3],
    [() => groups.remove(id, unrecorded), 8],
    [() => save("everybody else", {}), 9],
    [() => save("instance", {}), null],
  ];
  const mostViews = async (domain: TestDomain["domain"]) => (await domain.policies.of({ id: ada.id })).maxViews;
  for (const [change, expected] of changes) {
    // The other process has read the rules at the last moment before the change.
    await mostViews(other.domain);
    await change();
    expect(await mostViews(app.app.domain)).toBe(expected);
    app.clock.advance(500);
    expect(await mostViews(other.domain)).toBe(expected);
  }
});

const unrecorded = async () => undefined;

describe("races", () => {
  test("pushes that are made while their group is deleted are made, and none fails", async () => {
    await using app = await startTestApp();
    const ada = await user(app, "ada@example.com");
    const { id } = await makeGroup(app, "Helpdesk", [ada.id], { rules: { maxViews: 3 } });
    const creating = Array.from({ length: 10 }, () => ada.create({ payload: "x" }));
    const [removed, ...statuses] = await Promise.all([
      app.app.domain.groups.remove(id, async () => undefined),
      ...creating,
      ...Array.from({ length: 10 }, () => ada.create({ payload: "x" })),
    ]);
    expect([removed, new Set(statuses)]).toEqual([true, new Set([201])]);
  });

  test("a member who is removed or added between form and creation is under the rules of then", async () => {
    await using app = await startTestApp();
    const ada = await signInClient(app, "ada@example.com", { join: true });
    const { accounts, groups } = app.app.domain;
    const { id: userId = 0 } = (await accounts.findUserByEmail("ada@example.com")) ?? {};
    const { id: groupId } = await makeGroup(app, "Helpdesk", [userId], { rules: { passphraseRequired: true } });
    expect((await ada.get("/p/new")).body).toContain("Your organization asks for a passphrase");
    const create = async () => (await ada.post("/p", { "push[kind]": "text", "push[payload]": "x" })).status;
    expect(await create()).toBe(422);
    await groups.setMember({ userId, groupId, isMember: false }, async () => undefined);
    expect(await create()).toBe(303);
    await groups.setMember({ userId, groupId, isMember: true }, async () => undefined);
    expect(await create()).toBe(422);
  });

  test("of two administrators one saves the rules of a group, and the other one gets the form again", async () => {
    await using app = await startTestApp({ environment: { PWP__ALLOW_ANONYMOUS: "false" } });
    const [first, second] = [await administrator(app), await administrator(app, "second@example.com")];
    const { id } = await makeGroup(app, "Helpdesk", []);
    const path = `/admin/groups/${id}/rules`;
    const save = (root: typeof first, maxViews: string) => root.post(path, { ...form, revision: "1", maxViews });
    const answers = await Promise.all([save(first, "3"), save(second, "7")]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 409]);
    const late = answers.find(({ status }) => status === 409)?.body ?? "";
    expect(late).toContain("Someone else changed the rules while you were editing.");
    expect(late).toContain('name="revision" value="2"');
    expect((await trailOf(app)).filter((entry) => entry.startsWith("changed_rules"))).toHaveLength(1);
  });
});
