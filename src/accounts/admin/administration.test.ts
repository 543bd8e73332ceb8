import { expect, it } from "vitest";
import { clientAt, makeTestAccounts, password, startOfTests } from "../../../test/support/accounts.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import type { Accounts } from "../accounts.ts";

const shell = { userId: null, email: "shell", address: "" };

const make = (accounts: Accounts, email: string, admin = false) => accounts.createUser({ email, password, admin });

it("finds users by a part of their email address, newest first", async () => {
  const { accounts, advance } = makeTestAccounts();
  await make(accounts, "ada@example.com", true);
  advance(1);
  const eve = await make(accounts, "eve@example.org");
  await accounts.createToken(eve.id, "script");
  const found = (await accounts.searchUsers("", 1)).map(({ user, tokensInUse }) => [user.email, tokensInUse]);
  expect(found).toEqual([
    ["eve@example.org", 1],
    ["ada@example.com", 0],
  ]);
  expect(await accounts.searchUsers(" EXAMPLE.org", 1)).toHaveLength(1);
  // Search text is never a pattern.
  expect(await accounts.searchUsers("%", 1)).toHaveLength(0);
  expect(await accounts.searchUsers("", 2)).toHaveLength(0);
});

it("lists 100 users a page", async () => {
  const { accounts } = makeTestAccounts();
  for (let count = 0; count < 101; count += 1) await make(accounts, `user-${count}@example.com`);
  const lengths = [1, 2, 3].map(async (page) => (await accounts.searchUsers("", page)).length);
  expect(await Promise.all(lengths)).toEqual([100, 1, 0]);
});

it("appoints and removes administrators, but never the last one", async () => {
  const { accounts } = makeTestAccounts();
  const ada = await make(accounts, "ada@example.com", true);
  const eve = await make(accounts, "eve@example.com");
  expect(await accounts.setAdmin(ada.id, false, shell)).toMatchObject({ outcome: "last_admin" });
  expect(await accounts.setDisabled(ada.id, true, shell)).toMatchObject({ outcome: "last_admin" });
  expect(await accounts.deleteUser(ada.id, shell)).toMatchObject({ outcome: "last_admin" });
  expect(await accounts.setAdmin(eve.id, true, shell)).toMatchObject({ outcome: "done" });
  expect(await accounts.setDisabled(eve.id, true, shell)).toMatchObject({ outcome: "done" });
  // A disabled administrator does not count.
  expect(await accounts.setAdmin(ada.id, false, shell)).toMatchObject({ outcome: "last_admin" });
  expect(await accounts.setAdmin(99, true, shell)).toEqual({ outcome: "unknown" });
});

it("keeps one of two administrators who remove each other at the same time", async () => {
  const { accounts } = makeTestAccounts();
  const ada = await make(accounts, "ada@example.com", true);
  const eve = await make(accounts, "eve@example.com", true);
  const outcomes = await Promise.all([
    accounts.deleteUser(ada.id, { userId: eve.id, email: eve.email, address: "192.0.2.1" }),
    accounts.setAdmin(eve.id, false, { userId: ada.id, email: ada.email, address: "192.0.2.2" }),
  ]);
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["done", "last_admin"]);
});

it("ends sessions and API tokens of a disabled user for good, and lets them sign in again once enabled", async () => {
  const { accounts } = makeTestAccounts();
  const user = await make(accounts, "ada@example.com");
  const { token } = await accounts.createToken(user.id, "script");
  const signIn = () => accounts.signIn({ email: user.email, password, client: clientAt("c") });
  const session = await signIn();
  await accounts.setDisabled(user.id, true, shell);
  expect(await accounts.authenticateSession(session?.sessionToken ?? "")).toBeUndefined();
  expect(await accounts.authenticateToken({ token, address: "192.0.2.1" })).toBeUndefined();
  expect(await signIn()).toBeUndefined();
  await accounts.setDisabled(user.id, false, shell);
  expect(await accounts.authenticateToken({ token, address: "192.0.2.1" })).toBeUndefined();
  expect(await accounts.authenticateSession(session?.sessionToken ?? "")).toBeUndefined();
  expect(await signIn()).toBeDefined();
});

it("records a user as disabled once, however often that is asked for", async () => {
  const { accounts } = makeTestAccounts();
  const user = await make(accounts, "eve@example.com");
  const by = { userId: 7, email: "ada@example.com", address: "192.0.2.1" };
  for (const disabled of [false, true, true, false, false]) await accounts.setDisabled(user.id, disabled, by);
  expect(await accounts.listAdminEntries(1)).toHaveLength(2);
});

it("keeps nothing of a deleted user but the audit entry", async () => {
  const { accounts, db } = makeTestAccounts();
  const user = await make(accounts, "eve@example.com");
  await accounts.createToken(user.id, "script");
  await accounts.signIn({ email: user.email, password, client: clientAt("c") });
  const by = { userId: 7, email: "ada@example.com", address: "192.0.2.1" };
  expect(await accounts.deleteUser(user.id, by)).toMatchObject({ outcome: "done" });
  for (const table of ["users", "sessions", "api_tokens"]) {
    expect(await readRows(db, `SELECT * FROM ${table}`)).toEqual([]);
  }
  expect(await accounts.listAdminEntries(1)).toEqual([
    {
      createdAt: startOfTests,
      adminId: 7,
      adminEmail: "ada@example.com",
      action: "deleted_user",
      subject: "eve@example.com",
      address: "192.0.2.1",
    },
  ]);
});

it("keeps the latest 10,000 entries, and 1,000 each of the sign-ons and of SCIM", async () => {
  const { accounts, db } = makeTestAccounts();
  const sorts = [
    ["disabled", 10_000],
    ["refused_sign_on", 1_000],
    ["scim_created", 1_000],
  ] as const;
  for (const [action, kept] of sorts) {
    await changeRows(
      db,
      {
        sqlite: `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
          INSERT INTO admin_audit_entries (created_at, admin_email, action, subject, address) SELECT n, '', '${action}', '', '' FROM numbers`,
        postgres: `INSERT INTO admin_audit_entries (created_at, admin_email, action, subject, address)
          SELECT n, '', '${action}', '', '' FROM generate_series(1, CAST(? AS BIGINT)) AS n`,
      },
      kept,
    );
  }
  for (const [action] of sorts) await db.write(accounts.adminEntry(action, "", shell));
  for (const [action, kept] of sorts) {
    expect([action, await countRows(db, "admin_audit_entries", `action = '${action}'`)]).toEqual([action, kept]);
  }
  expect(await countRows(db, "admin_audit_entries", "created_at = 1")).toBe(0);
});
