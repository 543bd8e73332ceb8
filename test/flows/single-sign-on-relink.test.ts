import { expect, test } from "vitest";
import { readRows } from "../support/engine-database.ts";
import { shapes } from "../support/provider.ts";
import { startSignOnApp } from "../support/sign-on.ts";

const bob = { email: "bob@example.com", xms_edov: true, oid: "o-1" };
const shell = { userId: null, email: "shell", address: "" };
const claim = { PWP__OIDC__TRUST_EMAIL: "issuer", PWP__OIDC__ALLOWED_DOMAINS: "example.com" };

/** Bob has signed on; b-2 is his subject at the next client id, m-1 somebody else with his address. */
async function begin() {
  const site = await startSignOnApp(claim, shapes.microsoft);
  site.provider.people
    .set("b-1", bob)
    .set("b-2", bob)
    .set("m-1", { ...bob, oid: "o-2" });
  const { accounts } = site.app.app.domain;
  const arrive = async (person: string) => {
    const visitor = site.newVisitor();
    await site.signOn(visitor, person);
    return visitor.signedInAs();
  };
  expect(await arrive("b-1")).toBe(bob.email);
  const user = await accounts.findUserByEmail(bob.email);
  const subjects = async () => (await accounts.listIdentities(user?.id ?? 0)).map(({ subject }) => subject);
  return { accounts, issuer: site.provider.issuer, arrive, subjects };
}

test("another subject with the same object id gets nothing before an operator allows it", async () => {
  const { accounts, issuer, arrive, subjects } = await begin();
  expect(await accounts.listRelinkable(`${issuer}/`)).toMatchObject([{ moves: true }]);
  expect(await arrive("b-2")).toBeUndefined();
  expect(await subjects()).toEqual(["b-1"]);
});

test("the identity moves once, to the person with its object id, and the trail says so", async () => {
  const { accounts, issuer, arrive, subjects } = await begin();
  expect(await accounts.allowRelinking(issuer, shell)).toBe(1);
  expect(await arrive("m-1")).toBeUndefined();
  expect(await arrive("b-2")).toBe(bob.email);
  expect(await subjects()).toEqual(["b-2"]);
  expect(await arrive("b-1")).toBeUndefined();
  expect(await arrive("b-2")).toBe(bob.email);
  const trail = await accounts.listAdminEntries(1);
  expect(trail.map(({ action, subject }) => [action, subject])).toEqual([
    ["relinked", bob.email],
    ["allowed_relinking", "1"],
  ]);
});

test("what is kept of an identity is in the download of the account's data, and gone with the account", async () => {
  const site = await startSignOnApp(claim, shapes.microsoft);
  site.provider.people.set("b-1", bob);
  const visitor = site.newVisitor();
  await site.signOn(visitor, "b-1");
  const { accounts, db, deleteAccount } = site.app.app.domain;
  const exported = (await visitor.get("/users/edit/data")).json();
  expect(exported.single_sign_on).toEqual([
    { issuer: site.provider.issuer, subject: "b-1", object_id: "o-1", linked_at: expect.any(String) },
  ]);
  const user = await accounts.findUserByEmail(bob.email);
  expect(await deleteAccount(user?.id ?? 0, shell)).toMatchObject({ outcome: "done" });
  for (const table of ["identities", "sign_on_steps", "scim_users", "sessions"]) {
    expect(await readRows(db, `SELECT * FROM ${table}`)).toEqual([]);
  }
});
