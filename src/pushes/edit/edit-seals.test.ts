import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { open, unringedKey } from "../../crypto/seal.ts";
import { openDataKey, sealContexts } from "../seals.ts";

const owner = signedIn(7);

test("an old link key and an old data key open nothing that an edit sealed", async () => {
  await using fixture = await openTestDomain();
  const { pushes, keyring, store, vault } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "in a")], { payload: "old" });
  const old = await store.findSealed(vault.urlTokens.addressOf(urlToken), () => undefined);
  if (old?.dataKeySealed == null) throw new Error("The push is not there.");
  const opened = openDataKey(keyring, old.row, old.dataKeySealed, { urlToken, passphraseHash: undefined });
  if (opened.outcome !== "opened") throw new Error("The data key does not open.");
  await pushes.edit(urlToken, { payload: "new", passphrase: "two" }, owner);
  const now = await store.findSealed(vault.urlTokens.addressOf(urlToken), () => undefined);
  const [file] = await store.files(old.row.id);
  if (now?.dataKeySealed == null || now.payloadSealed == null || file?.keySealed == null)
    throw new Error("Not sealed.");
  expect(now.row.linkSalt.equals(old.row.linkSalt)).toBe(false);
  for (const row of [now.row, old.row]) {
    const reopened = openDataKey(keyring, row, now.dataKeySealed, { urlToken, passphraseHash: undefined });
    expect(reopened.outcome).toBe("wrong_link");
  }
  const key = unringedKey(opened.dataKey);
  for (const generation of [1, 2]) {
    const payloadContext = sealContexts.payload(old.row.id, generation, [file.id]);
    expect(open(key, payloadContext, now.payloadSealed)).toBeUndefined();
    expect(open(key, sealContexts.fileKey(file.id, generation), file.keySealed)).toBeUndefined();
  }
});

test("rows that do not match fail an edit as they fail a claim, and nothing changes", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "in a")], { payload: "old" });
  await pushes.edit(urlToken, { payload: "new" }, owner);
  const [{ sealed = null } = {}] = await readRows<{ sealed?: Buffer }>(db, "SELECT key_sealed AS sealed FROM files");
  const setKey = "UPDATE files SET key_sealed = ?";
  const changes = [
    () => changeRows(db, setKey, null),
    () => changeRows(db, setKey, randomBytes(65)),
    () => changeRows(db, "UPDATE files SET key_sealed = (SELECT sealed FROM payloads)"),
  ];
  for (const change of changes) {
    await change();
    await expect(pushes.claimView(urlToken, countEveryone, stranger)).rejects.toThrow(/do not fit/);
    await expect(pushes.edit(urlToken, { payload: "z" }, owner)).rejects.toThrow(/do not fit/);
    expect(await pushes.find(urlToken, owner)).toMatchObject({ viewsRemaining: 5 });
  }
  await changeRows(db, setKey, sealed);
  expect(await pushes.edit(urlToken, { payload: "z" }, owner)).toMatchObject({ outcome: "edited" });
});
