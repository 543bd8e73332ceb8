import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { countEveryone, makeDataDir, openTestDomain, stranger } from "../../test/support/domain.ts";
import { changeRows, readRows } from "../../test/support/engine-database.ts";
import { keyEnvironment, masterKeyNamed } from "../../test/support/master-keys.ts";
import type { Database } from "../database/database.ts";
import { keysInUse, openSecret, WrongMasterKeyError } from "./vault.ts";

function makeFolder(): string {
  const folder = makeDataDir();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const open = (dataDir: string, ...keys: [string, ...string[]]) =>
  openTestDomain({ dataDir, environment: keyEnvironment(...keys) });

test("a database opens under the key that sealed it, and its links keep working", async () => {
  const dataDir = makeFolder();
  let urlToken = "";
  {
    await using fixture = await open(dataDir, "first");
    urlToken = (await fixture.domain.pushes.create({ payload: "x" }, stranger)).urlToken;
  }
  await using fixture = await open(dataDir, "first");
  expect(await fixture.domain.pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
    payload: "x",
  });
});

test("another key stops the start; the error names the needed key's id and reveals no key", async () => {
  const dataDir = makeFolder();
  let wanted = "";
  {
    await using fixture = await open(dataDir, "first");
    wanted = fixture.domain.keyring.ids[0] ?? "?";
  }
  const refused = await open(dataDir, "second").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(WrongMasterKeyError);
  const { message } = refused as WrongMasterKeyError;
  expect(message).toContain(`the master key with id ${wanted}`);
  expect(message).toMatch(/PWPUSH_MASTER_KEY_PREVIOUS/);
  for (const name of ["first", "second"]) expect(message).not.toContain(masterKeyNamed(name));
  // The refused start recorded no mark of the wrong key.
  await using fixture = await open(dataDir, "first");
  expect(await keysInUse(fixture.domain.db)).toEqual([wanted]);
});

test("a lost master.key stops the start instead of being generated again", async () => {
  const dataDir = makeFolder();
  await (await openTestDomain({ dataDir })).domain.close();
  rmSync(join(dataDir, "master.key"));
  await expect(openTestDomain({ dataDir })).rejects.toThrow(/restore it to the data folder/);
});

test("with a new key before the old one existing data opens, and from then on both keys are needed", async () => {
  const dataDir = makeFolder();
  let urlToken = "";
  {
    await using fixture = await open(dataDir, "first");
    urlToken = (await fixture.domain.pushes.create({ payload: "x" }, stranger)).urlToken;
  }
  {
    await using fixture = await open(dataDir, "second", "first");
    expect(await fixture.domain.pushes.find(urlToken, stranger)).toBeDefined();
    expect([...(await keysInUse(fixture.domain.db))].sort()).toEqual([...fixture.domain.keyring.ids].sort());
  }
  await expect(open(dataDir, "first")).rejects.toBeInstanceOf(WrongMasterKeyError);
  await expect(open(dataDir, "second")).rejects.toBeInstanceOf(WrongMasterKeyError);
  await using fixture = await open(dataDir, "first", "second");
  expect(await fixture.domain.pushes.claimView(urlToken, countEveryone, stranger)).toMatchObject({
    outcome: "revealed",
  });
});

test.each([
  ["the index secret", "name = 'index_secret'"],
  ["the access secret", "name = 'access_secret'"],
  ["both secrets", "name IN ('index_secret', 'access_secret')"],
  ["both secrets and the marks of its keys", "TRUE"],
])("a database that lacks %s stops the start, and no other secret is generated", async (_, lost) => {
  const dataDir = makeFolder();
  const meta = async (db: Database) => await readRows(db, "SELECT name, value FROM meta ORDER BY name");
  const opening = () => open(dataDir, "first");
  await using fixture = await opening();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "x" }, stranger);
  const { db } = fixture.domain;
  const before = await readRows<{ name: string; value: Buffer }>(db, `SELECT name, value FROM meta WHERE ${lost}`);
  await changeRows(db, `DELETE FROM meta WHERE ${lost}`);
  const left = await meta(db);
  await expect(opening()).rejects.toThrow(/is in use, but the row (index|access)_secret .* missing.* restore a backup/);
  expect(await meta(db)).toEqual(left);
  for (const { name, value } of before)
    await changeRows(db, "INSERT INTO meta (name, value) VALUES (?, ?)", name, value);
  await using restored = await opening();
  expect(await restored.domain.pushes.find(urlToken, stranger)).toBeDefined();
});

test("when two processes create a database at once with different keys, one is refused", async () => {
  const dataDir = makeFolder();
  const opened = await Promise.allSettled([open(dataDir, "first"), open(dataDir, "second")]);
  expect(opened.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
  for (const one of opened) {
    if (one.status === "fulfilled") await one.value.domain.close();
    else expect(one.reason).toBeInstanceOf(WrongMasterKeyError);
  }
});

test("the same link has another address in another domain, and the secrets are stored sealed", async () => {
  await using first = await openTestDomain();
  await using second = await openTestDomain();
  const addressIn = ({ domain }: typeof first) => {
    const { pushId, check, importedDigest } = domain.vault.urlTokens.addressOf("a-link");
    return { pushId, check, importedDigest: importedDigest() };
  };
  const [here, there] = [addressIn(first), addressIn(second)];
  expect(addressIn(first)).toEqual(here);
  expect(here.check.equals(there.check)).toBe(false);
  expect(here.importedDigest.equals(there.importedDigest)).toBe(false);
  const { db, keyring } = first.domain;
  const storedSecret = async (name: string) =>
    (await readRows<{ value: Buffer }>(db, "SELECT value FROM meta WHERE name = ?", name))[0]?.value ?? Buffer.alloc(0);
  expect(openSecret(keyring, "index_secret", await storedSecret("index_secret"))).toHaveLength(32);
  expect(openSecret(keyring, "access_secret", await storedSecret("access_secret"))).toHaveLength(32);
  expect(openSecret(keyring, "access_secret", await storedSecret("index_secret"))).toBeUndefined();
});

test("keys for links and for access are different for each purpose and domain, and stay the same", async () => {
  const dataDir = makeFolder();
  const keysOf = async (folder: string) => {
    await using fixture = await open(folder, "first");
    const { indexKey, access } = fixture.domain.vault;
    const keys = [indexKey("a"), indexKey("b"), access.digest("session", "a"), access.digest("session", "b")];
    return keys.map((key) => key.toString("hex"));
  };
  const keys = await keysOf(dataDir);
  expect(await keysOf(dataDir)).toEqual(keys);
  expect(new Set([...keys, ...(await keysOf(makeFolder()))]).size).toBe(8);
});
