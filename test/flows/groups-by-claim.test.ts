import { describe, expect, test } from "vitest";
import { bearer, password } from "../support/app.ts";
import { makeGroup } from "../support/groups.ts";
import { shapes } from "../support/provider.ts";
import { type SignOnApp, startSignOnApp, urlOf } from "../support/sign-on.ts";

const email = "bob@example.com";
const bob = { email, email_verified: true };

async function openWithGroup(shape = shapes.authentik) {
  const site = await startSignOnApp({}, shape);
  const group = await makeGroup(site.app, "Helpdesk", [], { rules: { maxViews: 3 }, claim: "helpdesk" });
  return { ...site, group };
}

async function groupsOf({ app }: Pick<SignOnApp, "app">, address = email): Promise<readonly string[]> {
  const user = await app.app.domain.accounts.findUserByEmail(address);
  return (await app.app.domain.groups.listOf(user?.id ?? 0)).map(({ name }) => name);
}

describe("a group with a claim", () => {
  test("has as members whom the last sign-on named, also for their API tokens", async () => {
    const site = await openWithGroup();
    const { app, provider, signOn, newVisitor } = site;
    const { accounts, policies } = app.app.domain;
    provider.people.set("b-1", { ...bob, groups: ["staff", "helpdesk"] });
    await signOn(newVisitor(), "b-1");
    const { id = 0 } = (await accounts.findUserByEmail(email)) ?? {};
    const { token } = await accounts.createToken(id, "a script");
    const mostViews = async () => {
      policies.forget();
      return (await app.server.inject({ url: "/api/sealpush/policy", headers: bearer(token) })).json().max_views;
    };
    expect([await groupsOf(site), await mostViews()]).toEqual([["Helpdesk"], 3]);
    // What the provider says later counts from the next sign-on.
    provider.people.set("b-1", { ...bob, groups: ["staff"] });
    expect(await mostViews()).toBe(3);
    await signOn(newVisitor(), "b-1");
    expect([await groupsOf(site), await mostViews()]).toEqual([[], null]);
    const entries = (await accounts.listAdminEntries(1)).filter(({ action }) => action === "groups_by_claim");
    expect(entries.map(({ subject, adminId }) => [subject, adminId])).toEqual([
      [`${email}: Helpdesk → -`, id],
      [`${email}: - → Helpdesk`, id],
    ]);
  });

  test.each([["Helpdesk"], ["helpdesk "], ["help"], ["helpdesk,staff"], ["/helpdesk"]])(
    "compares exactly: %s is another value",
    async (value) => {
      const site = await openWithGroup();
      site.provider.people.set("b-1", { ...bob, groups: [value] });
      await site.signOn(site.newVisitor(), "b-1");
      expect([await groupsOf(site), (await site.app.app.domain.accounts.findUserByEmail(email))?.email]).toEqual([
        [],
        email,
      ]);
    },
  );

  test("keeps who is a member by hand when the provider names nobody", async () => {
    const site = await openWithGroup();
    const { groups, accounts } = site.app.app.domain;
    site.provider.people.set("b-1", { ...bob, groups: ["helpdesk"] });
    await site.signOn(site.newVisitor(), "b-1");
    const { id: userId = 0 } = (await accounts.findUserByEmail(email)) ?? {};
    const setMember = (isMember: boolean) =>
      groups.setMember({ userId, groupId: site.group.id, isMember }, async () => undefined);
    await setMember(true);
    expect((await groups.list()).map(({ members }) => members)).toEqual([1]);
    await setMember(false);
    expect(await groups.searchMembers(site.group.id, "", 1)).toEqual([{ userId, email, byHand: false, byClaim: true }]);
    await setMember(true);
    site.provider.people.set("b-1", bob);
    await site.signOn(site.newVisitor(), "b-1");
    expect(await groups.searchMembers(site.group.id, "", 1)).toEqual([{ userId, email, byHand: true, byClaim: false }]);
  });

  test("loses its members by claim when the claim changes", async () => {
    const site = await openWithGroup();
    site.provider.people.set("b-1", { ...bob, groups: ["helpdesk"] });
    await site.signOn(site.newVisitor(), "b-1");
    await site.app.app.domain.groups.change({ ...site.group, claim: "staff" }, () => async () => undefined);
    expect(await groupsOf(site)).toEqual([]);
  });

  test("counts also for an account whose owner confirms the link first", async () => {
    const site = await openWithGroup();
    const ada = "ada@example.com";
    site.provider.people.set("a-1", { email: ada, email_verified: true, groups: ["helpdesk", "staff"] });
    const visitor = site.newVisitor();
    await site.signOn(visitor, "a-1");
    expect(await groupsOf(site, ada)).toEqual([]);
    expect((await visitor.post("/users/auth/oidc/confirm", { password })).statusCode).toBe(303);
    expect(await groupsOf(site, ada)).toEqual(["Helpdesk"]);
  });

  test("asks for the provider's scope", async () => {
    const { newVisitor } = await openWithGroup(shapes.okta);
    const asked = new URL(urlOf((await newVisitor().post("/users/auth/oidc")).body));
    expect(asked.searchParams.get("scope")).toBe("openid email profile groups");
  });
});

describe("unknown groups", () => {
  const unknown = { ...bob, groups: { too: "many" } };

  test("refuse the sign-on where a group has a claim", async () => {
    const site = await openWithGroup();
    site.provider.people.set("b-1", unknown);
    const visitor = site.newVisitor();
    await site.signOn(visitor, "b-1");
    expect(await visitor.signedInAs()).toBeUndefined();
    const [entry] = await site.app.app.domain.accounts.listAdminEntries(1);
    expect([entry?.action, entry?.subject.includes("groups")]).toEqual(["refused_sign_on", true]);
  });

  test("refuse nobody where no group has one", async () => {
    const site = await startSignOnApp({}, shapes.authentik);
    await makeGroup(site.app, "Helpdesk", [], { rules: { maxViews: 3 } });
    site.provider.people.set("b-1", unknown);
    const visitor = site.newVisitor();
    await site.signOn(visitor, "b-1");
    expect(await visitor.signedInAs()).toBe(email);
  });
});
