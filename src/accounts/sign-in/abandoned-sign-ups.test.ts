import { expect, it } from "vitest";
import { changeUsers } from "../../../test/support/access-rows.ts";
import { clientAt, makeTestAccounts, makeUser, password } from "../../../test/support/accounts.ts";
import { changeRows, countRows, readRows } from "../../../test/support/engine-database.ts";
import { dayMs } from "../../base/clock.ts";

it("are all removed in bounded batches, even if a batch removes accounts with their links", async () => {
  const { accounts, db, advance } = makeTestAccounts();
  await makeUser(accounts);
  for (let at = 0; at < 5; at += 1) {
    const email = `abandoned-${at}@example.com`;
    await accounts.signUp({ email, password, language: "en", client: clientAt(email) });
    advance(1);
  }
  advance(8 * dayMs);
  const removed: number[] = [];
  while (removed.at(-1) !== 0) removed.push(await accounts.removeAbandonedLinks(2));
  expect(removed).toEqual([2, 2, 1, 0]);
  expect(await readRows(db, "SELECT email FROM users")).toEqual([{ email: "ada@example.com" }]);
});

it("of the same millisecond are removed together", async () => {
  const { accounts, db, advance } = makeTestAccounts();
  await makeUser(accounts);
  for (const email of ["bob@example.com", "eve@example.com", "mia@example.com"]) {
    await accounts.signUp({ email, password, language: "en", client: clientAt(email) });
  }
  advance(8 * dayMs);
  expect(await accounts.removeAbandonedLinks(2)).toBe(3);
  expect(await readRows(db, "SELECT email FROM users")).toEqual([{ email: "ada@example.com" }]);
});

it("are no accounts that somebody has signed in to, or that have an API token", async () => {
  const { accounts, db, advance } = makeTestAccounts();
  await makeUser(accounts);
  const emails = ["token@example.com", "visited@example.com", "abandoned@example.com"];
  for (const email of emails) await accounts.signUp({ email, password, language: "en", client: clientAt(email) });
  const owner = await accounts.findUserByEmail("token@example.com");
  await accounts.createToken(owner?.id ?? 0, "a token");
  await changeRows(db, "UPDATE users SET last_signed_in_at = ? WHERE email = 'visited@example.com'", 1);
  advance(8 * dayMs);
  await accounts.removeAbandonedLinks(10);
  const kept = await readRows<{ email: string }>(db, "SELECT email FROM users ORDER BY email");
  expect(kept.map(({ email }) => email)).toEqual(["ada@example.com", "token@example.com", "visited@example.com"]);
});

it("are no accounts that existed before somebody signed up with their address", async () => {
  const { accounts, db, access, advance } = makeTestAccounts();
  for (const email of ["ada@example.com", "bob@example.com"]) await makeUser(accounts, email);
  await changeUsers({ db, access }, { confirmedAt: null }, "bob@example.com");
  advance(1);
  await accounts.signUp({ email: "bob@example.com", password, language: "en", client: clientAt("bob") });
  expect(await readRows(db, "SELECT sets_password FROM mailed_links")).toEqual([{ sets_password: 1 }]);
  advance(8 * dayMs);
  expect(await accounts.removeAbandonedLinks(10)).toBe(1);
  expect(await countRows(db, "users")).toBe(2);
});
