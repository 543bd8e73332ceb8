import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientAt, makeTestAccounts, makeUser, password, type TestAccounts } from "../../../test/support/accounts.ts";
import { TestAuthenticator } from "../../../test/support/authenticator.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { addApp, addPasskey, changeBy, client, openFactorFixture, party } from "../../../test/support/factors.ts";
import { type Random, systemRandom } from "../../base/random.ts";
import { groupMembers } from "../../policies/store/tables.ts";
import { createIdentityStore } from "./identities.ts";
import { accessTables } from "./tables.ts";

// An attacker who can write to the database can delete rows, and put older ones back. No row that they insert or change may
// give access.

const sourceFolder = join(import.meta.dirname, "../..");

/** Tables of a user's rows without a MAC, and why. */
const withoutMac: Readonly<Record<string, string>> = {
  known_clients: "decides only which limit of guesses applies",
  totp_factors:
    "the sealed secret contains the user, users.second_factors counts it, and a lower last_step gives what an older row gives",
  backup_codes: "the digest contains the user",
  requests: "the sealed details contain the request and its owner",
};

test("every table whose rows belong to a user is an access table, or needs no MAC", async () => {
  const { db } = makeTestAccounts();
  const rows = await readRows<{ name: string }>(db, {
    sqlite: `SELECT DISTINCT tables.name AS name FROM sqlite_schema AS tables, pragma_foreign_key_list(tables.name) AS keys
      WHERE tables.type = 'table' AND keys."table" = 'users'`,
    postgres: `SELECT DISTINCT conrelid::regclass::text AS name FROM pg_constraint
      WHERE contype = 'f' AND confrelid = 'users'::regclass`,
  });
  const known = [
    ...accessTables.map(({ name }) => name).filter((name) => name !== "users"),
    ...Object.keys(withoutMac),
    // Another room's, with a MAC: test/flows/groups.test.ts and presets.test.ts.
    groupMembers.name,
    "presets",
  ];
  expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
});

test("no statement outside of the access table inserts its rows or sets their deciding columns", () => {
  const statements = readdirSync(sourceFolder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .flatMap((path) => {
      const text = readFileSync(join(sourceFolder, path), "utf8");
      return [...text.matchAll(/INSERT INTO (\w+)|UPDATE (\w+) SET ([^;"`]*?)(?:\bWHERE\b|["`])/g)].map(
        ([, inserted, updated, set]) => ({ path, inserted, updated, set: set ?? "" }),
      );
    });
  expect(statements.length).toBeGreaterThan(30);
  for (const { path, inserted, updated, set } of statements) {
    const table = accessTables.find(({ name }) => name === (inserted ?? updated));
    if (table === undefined) continue;
    expect(inserted, path).toBeUndefined();
    // A row without a MAC counts no more, whatever its other columns contain.
    if (/\bmac = NULL\b/.test(set)) continue;
    const columns = set.split(",").map((assignment) => assignment.split("=")[0]?.trim());
    const deciding = table.deciding.map((key) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    expect(
      deciding.filter((column) => columns.includes(column)),
      `${path}: ${set}`,
    ).toEqual([]);
  }
});

/** One row in each access table, and for each the request that it grants. */
async function openEverything() {
  const opened = await openFactorFixture();
  const { accounts, db, seals, fixture } = opened;
  const { session, sessionToken } = await opened.signIn();
  const { id: userId } = session.user;
  const { token } = await accounts.createToken(userId, "n", { networks: ["192.0.2.0/24"], expiresInDays: 9 });
  const identities = createIdentityStore(db, seals, systemRandom);
  const identity = { issuer: "https://id.example.com", subject: "a-1" };
  await db.writeSerialized("accounts", (tx) =>
    identities.linkIdentity(tx, { ...identity, userId, now: 0, factorShown: true, perUserMax: 1 }),
  );
  const { authenticator } = await addPasskey(fixture, session, "laptop");
  const provisioned = await accounts.scim.create({ userName: "p@example.com", externalId: "p-1", active: false }, "");
  return {
    provisioned,
    ...opened,
    userId,
    sessionToken,
    token,
    identities,
    identity,
    authenticator,
  };
}

type Everything = Awaited<ReturnType<typeof openEverything>>;

/** What each table grants; undefined or false: nothing. */
const granted: Readonly<Record<string, (opened: Everything) => Promise<unknown>>> = {
  users: ({ accounts, userId }) => accounts.findUser(userId),
  sessions: ({ accounts, sessionToken }) => accounts.authenticateSession(sessionToken),
  api_tokens: ({ accounts, token }) => accounts.authenticateToken({ token, address: "192.0.2.1" }),
  passkeys: async ({ accounts, authenticator }) =>
    accounts.signInByPasskey({ answer: authenticator.get(await accounts.offerAnyPasskey(party)), party }, client),
  identities: ({ identities, identity }) => identities.findUserByIdentity(identity),
  scim_users: ({ accounts, provisioned }) => accounts.scim.find(provisioned.id),
};

const bobsId = "(SELECT id FROM users WHERE email = 'bob@example.com')";
/** Another value for each deciding column, in SQL of both engines. */
const otherValues: Readonly<Record<string, string>> = {
  "users.email": "'eve@example.com'",
  "users.admin": "1",
  "users.confirmed_at": "confirmed_at + 1",
  "users.disabled_at": "5",
  "users.has_password": "0",
  "users.last_signed_on_at": "9000000000000",
  "users.is_unused": "1 - is_unused",
  "users.break_glass_at": "9000000000000",
  "users.second_factors": "0",
  "users.factor_failures": "factor_failures + 1",
  "users.factor_failures_since": "5",
  "users.service_group_id": "5",
  "sessions.id": "id + 1",
  "sessions.user_id": bobsId,
  "sessions.created_at": "created_at + 1",
  "sessions.waits_for_factor": "1 - waits_for_factor",
  "sessions.way": "2",
  "sessions.persistent": "1 - persistent",
  "sessions.proved_at": "5",
  "sessions.provider_sid": "'x'",
  "sessions.provider_subject": "'x'",
  "sessions.provider_issued_at": "5",
  "sessions.admin_until": "9000000000000",
  "api_tokens.id": "id + 1",
  "api_tokens.user_id": bobsId,
  "api_tokens.scopes": "'create'",
  "api_tokens.networks": "NULL",
  "api_tokens.expires_at": "NULL",
  "passkeys.id": "id + 1",
  "passkeys.user_id": bobsId,
  "passkeys.public_key": "credential_id",
  "passkeys.sign_count": "sign_count + 1",
  "identities.user_id": bobsId,
  "identities.object_id": "'o-2'",
  "identities.moves_by_object_id": "1 - moves_by_object_id",
  "scim_users.user_name": "'eve@example.com'",
  "scim_users.name_key": "'eve@example.com'",
  "scim_users.external_id": "'e-1'",
  "scim_users.is_made": "1 - is_made",
  "scim_users.is_deleted": "1 - is_deleted",
  "scim_users.has_disabled": "1 - has_disabled",
  "scim_users.has_given_address": "1 - has_given_address",
};

test.each(Object.entries(otherValues))(
  "a row whose column %s was changed grants nothing, and is reported",
  async (column, value) => {
    const opened = await openEverything();
    const { db, accounts, forgedRows } = opened;
    await makeUser(accounts, "bob@example.com");
    const [table = "", name = ""] = column.split(".");
    const grant = granted[table];
    if (grant === undefined) throw new Error(`There is no request for ${table}.`);
    expect(await grant(opened)).toBeTruthy();
    expect(forgedRows).toEqual([]);
    const only = table === "users" ? "WHERE email = 'ada@example.com'" : "";
    expect(await changeRows(db, `UPDATE ${table} SET ${name} = ${value} ${only}`)).toBeGreaterThan(0);
    expect((await grant(opened)) ?? false).toBe(false);
    expect(forgedRows).toContain(table);
  },
);

test("each deciding column has a case above, except those that find the row", () => {
  const finding = ["users.id", "sessions.digest", "api_tokens.digest", "passkeys.credential_id", "scim_users.id"];
  const columns = accessTables
    // Emailed links have tests of their own below.
    .filter(({ name }) => name !== "mailed_links")
    .flatMap(({ name, deciding }) =>
      deciding.map((key) => `${name}.${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
    );
  const identityKeys = ["identities.issuer", "identities.subject"];
  expect(columns.sort()).toEqual([...Object.keys(otherValues), ...finding, ...identityKeys].sort());
});

test("a row with an empty, missing or another row's MAC grants nothing", async () => {
  const opened = await openEverything();
  const { db, accounts, userId, sessionToken } = opened;
  const [row] = await readRows<{ mac: Buffer }>(db, "SELECT mac FROM users WHERE id = ?", userId);
  for (const mac of [null, Buffer.alloc(0), Buffer.alloc(16), row?.mac ?? null]) {
    await changeRows(db, "UPDATE sessions SET mac = ?", mac);
    expect(await accounts.authenticateSession(sessionToken)).toBeUndefined();
  }
});

test("a forged session, API token or backup code is refused, also with a copied MAC", async () => {
  const { accounts, db, userId, sessionToken, forgedRows } = await openEverything();
  const own = "a".repeat(43);
  const sha256 = createHash("sha256").update(own).digest();
  await changeRows(
    db,
    `INSERT INTO sessions (digest, id, user_id, way, created_at, seen_at, waits_for_factor, persistent, address, user_agent, mac)
     SELECT ?, 900, user_id, way, created_at, seen_at, 0, 0, '', '', mac FROM sessions`,
    sha256,
  );
  expect(await accounts.authenticateSession(own)).toBeUndefined();
  await changeRows(
    db,
    `INSERT INTO api_tokens (id, user_id, name, digest, scopes, created_at, mac)
     SELECT 900, user_id, 'n', ?, scopes, created_at, mac FROM api_tokens`,
    createHash("sha256").update(`sp_${own}`).digest(),
  );
  expect(await accounts.authenticateToken({ token: `sp_${own}`, address: "192.0.2.1" })).toBeUndefined();
  const code = "7k2m7k2m7k2m7k2m";
  await changeRows(db, "INSERT INTO backup_codes VALUES (?, ?)", userId, createHash("sha256").update(code).digest());
  const waiting = await accounts.signIn({ email: "ada@example.com", password, client });
  const session = await accounts.authenticateSession(waiting?.sessionToken ?? "");
  if (session === undefined) throw new Error("Nobody is signed in.");
  const given = await accounts.giveCode({ session, sessionToken: waiting?.sessionToken ?? "", client }, code);
  expect(given.outcome).toBe("wrong");
  expect(await accounts.authenticateSession(sessionToken)).toBeDefined();
  expect(forgedRows).toEqual([]);
});

test("a genuine session or token that is moved to another user's digest, or another user's backup code, is refused", async () => {
  const { accounts, db, userId } = await openEverything();
  const eve = await makeUser(accounts, "eve@example.com");
  const { token } = await accounts.createToken(eve.id, "n");
  await changeRows(db, "UPDATE api_tokens SET user_id = ? WHERE user_id = ?", userId, eve.id);
  expect(await accounts.authenticateToken({ token, address: "192.0.2.1" })).toBeUndefined();
  const signedIn = await accounts.signIn({ email: "eve@example.com", password, client });
  await changeRows(db, "UPDATE sessions SET user_id = ? WHERE user_id = ?", userId, eve.id);
  expect(await accounts.authenticateSession(signedIn?.sessionToken ?? "")).toBeUndefined();
});

test("an emailed link is refused when its row was inserted or changed", async () => {
  const { accounts, db, forgedRows } = makeTestAccounts();
  const ada = await makeUser(accounts);
  await makeUser(accounts, "eve@example.com");
  await accounts.requestReset({ email: ada.email, language: "en", client: clientAt("c") });
  const forged = "b".repeat(43);
  await changeRows(
    db,
    `INSERT INTO mailed_links (digest, user_id, purpose, new_email, password_sealed, sets_password, created_at, mac)
     SELECT ?, user_id, purpose, new_email, password_sealed, sets_password, created_at, mac FROM mailed_links`,
    createHash("sha256").update(forged).digest(),
  );
  expect(await accounts.isResettable(forged)).toBe(false);
  expect(forgedRows).toEqual([]);
});

test("an address that was written into the row of a user gets no link for a new password, and signs nobody in", async () => {
  const { accounts, db, forgedRows } = makeTestAccounts();
  const ada = await makeUser(accounts);
  const mails = async () => (await readRows(db, "SELECT id FROM outbox")).length;
  await changeRows(db, "UPDATE users SET email = 'mallory@example.com' WHERE id = ?", ada.id);
  await accounts.requestReset({ email: "mallory@example.com", language: "en", client: clientAt("c") });
  expect(await readRows(db, "SELECT user_id FROM mailed_links")).toEqual([]);
  expect(await mails()).toBe(0);
  expect(await accounts.signIn({ email: "mallory@example.com", password, client })).toBeUndefined();
  expect(await accounts.findUserByEmail("mallory@example.com")).toBeUndefined();
  expect(forgedRows).toContain("users");
});

test("a password that was written into the row of a user, or copied from another user's, signs nobody in", async () => {
  const { accounts, db, forgedRows } = makeTestAccounts();
  await makeUser(accounts);
  await makeUser(accounts, "mallory@example.com");
  const own = "SELECT password_sealed FROM users WHERE email = 'mallory@example.com'";
  await changeRows(db, `UPDATE users SET password_sealed = (${own}) WHERE email = 'ada@example.com'`);
  expect(await accounts.signIn({ email: "ada@example.com", password, client })).toBeUndefined();
  expect(forgedRows).toEqual(["users"]);
  await changeRows(
    db,
    "UPDATE users SET password_sealed = ? WHERE email = 'ada@example.com'",
    Buffer.from(`plain:${password}`),
  );
  expect(await accounts.signIn({ email: "ada@example.com", password, client })).toBeUndefined();
  expect(await accounts.signIn({ email: "mallory@example.com", password, client })).toBeDefined();
});

test("nobody gets the id of a deleted user, whatever the database says about ids", async () => {
  const { accounts, db } = makeTestAccounts();
  const ada = await makeUser(accounts);
  await changeRows(db, "DELETE FROM users");
  await changeRows(db, "UPDATE id_blocks SET next_id = 1");
  const again = await makeUser(accounts);
  expect(again.id).not.toBe(ada.id);
  expect(again.id).toBeLessThan(2 ** 48);
});

test("an id that is drawn while a user has it, or had it until shortly, is drawn again", async () => {
  let drawn = 0;
  const draws = [5, 5, 6, 6, 5, 7];
  const random: Random = {
    bytes: (count) => (count === 6 ? Buffer.of(0, 0, 0, 0, 0, draws[drawn++] ?? 0) : systemRandom.bytes(count)),
  };
  const { accounts } = makeTestAccounts({ random });
  expect((await makeUser(accounts)).id).toBe(5);
  const bob = await makeUser(accounts, "bob@example.com");
  expect(bob.id).toBe(6);
  await accounts.deleteUser(bob.id, null);
  expect((await makeUser(accounts, "eve@example.com")).id).toBe(7);
});

test("an inserted passkey or identity signs nobody in, and is in no list", async () => {
  const { accounts, db, userId, identities } = await openEverything();
  const mallory = new TestAuthenticator();
  const answer = mallory.create(await accounts.offerPasskey((await sessionOf(accounts)).session, party));
  const credentialId = Buffer.from(JSON.parse(answer).id, "base64url");
  await changeRows(
    db,
    `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, sign_count, transports, created_at, mac)
     SELECT 900, user_id, 'mallory', ?, public_key, 0, '', 0, mac FROM passkeys`,
    credentialId,
  );
  const attempt = mallory.get(await accounts.offerAnyPasskey(party));
  expect(await accounts.signInByPasskey({ answer: attempt, party }, client)).toBeUndefined();
  expect((await accounts.findFactors(userId)).passkeys.map(({ name }) => name)).toEqual(["laptop"]);
  await changeRows(
    db,
    "INSERT INTO identities (issuer, subject, user_id, created_at, mac) SELECT issuer, 'mallory', user_id, 0, mac FROM identities",
  );
  const identity = { issuer: "https://id.example.com", subject: "mallory" };
  expect(await identities.findUserByIdentity(identity)).toBeUndefined();
  expect(await identities.listIdentities(userId)).toHaveLength(1);
});

test("deleting the rows of factors does not turn the second factor off", async () => {
  const { accounts, db, signIn, fixture, session } = await withApp();
  await addPasskey(fixture, session, "laptop", password);
  await changeRows(db, "DELETE FROM totp_factors");
  await changeRows(db, "DELETE FROM passkeys");
  const { session: waiting } = await signIn();
  expect(waiting.waitsForFactor).toBe(true);
  expect((await accounts.resetFactors(waiting.user.id, { userId: null, email: "shell", address: "" })).outcome).toBe(
    "done",
  );
  expect((await signIn()).session.waitsForFactor).toBe(false);
});

test("removing factors that were put into the database does not turn the real one off", async () => {
  const { accounts, db, signIn, session, userId } = await withApp();
  await changeRows(
    db,
    `INSERT INTO passkeys (id, user_id, name, credential_id, public_key, sign_count, transports, created_at)
     VALUES (900, ?, 'strange', ?, ?, 0, '', 0)`,
    userId,
    Buffer.of(9),
    Buffer.of(9),
  );
  expect(await accounts.removePasskey(changeBy(session, password), 900)).toEqual({ outcome: "unknown" });
  expect((await signIn()).session.waitsForFactor).toBe(true);
});

async function withApp() {
  const opened = await openFactorFixture();
  const { session } = await opened.signIn();
  return { ...opened, session, userId: session.user.id, ...(await addApp(opened.fixture, session)) };
}

async function sessionOf(accounts: TestAccounts["accounts"]) {
  const signedIn = await accounts.signIn({ email: "ada@example.com", password, client });
  const session = await accounts.authenticateSession(signedIn?.sessionToken ?? "");
  if (signedIn === undefined || session === undefined) throw new Error("Nobody is signed in.");
  return { session, sessionToken: signedIn.sessionToken };
}
