import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { countEveryone, openTestDomain, signedIn, stranger } from "../../../test/support/domain.ts";
import { changeRows, readRows } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { derivePushKey } from "../../crypto/push-key.ts";
import { openFileKey, openPayload } from "../seals.ts";
import { rowSecrets } from "../store/tables.ts";

const owner = signedIn(7);

test("an old row secret and the key derived from it open nothing that an edit sealed", async () => {
  await using fixture = await openTestDomain();
  const { pushes, keyring, store, vault } = fixture.domain;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "in a")], { payload: "old" });
  const link = vault.urlTokens.addressOf(urlToken);
  const secrets = { urlToken, passphraseHash: undefined };
  const old = await store.findSealed(link, () => undefined);
  const oldSecret = old?.rowSecretSealed && keyring.open(rowSecrets.seals.rowSecret, old.row, old.rowSecretSealed);
  if (old == null || oldSecret == null) throw new Error("The push is not there.");
  await pushes.edit(urlToken, { payload: "new" }, owner);
  const now = await store.findSealed(link, () => undefined);
  const files = await store.files(old.row.id);
  const [file] = files;
  if (now?.rowSecretSealed == null || now.payloadSealed == null || file === undefined) throw new Error("Not sealed.");
  expect(now.rowSecretSealed).toHaveLength(old.rowSecretSealed?.length ?? 0);
  expect(keyring.open(rowSecrets.seals.rowSecret, now.row, now.rowSecretSealed)?.equals(oldSecret)).toBe(false);
  for (const sealGeneration of [1, 2]) {
    const identity = { ...now.row, sealGeneration };
    const key = derivePushKey(oldSecret, secrets, identity);
    expect(key.check.equals(now.row.keyCheck)).toBe(false);
    expect(openPayload(key, identity, files, now.payloadSealed)).toBeUndefined();
    expect(openFileKey(key, identity, file)).toBeUndefined();
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
    () => changeRows(db, setKey, Buffer.alloc(0)),
    () => changeRows(db, setKey, randomBytes(65)),
    () => changeRows(db, "UPDATE files SET key_sealed = (SELECT sealed FROM payloads)"),
  ];
  for (const change of changes) {
    await change();
    await expect(pushes.claimView(urlToken, countEveryone, stranger)).rejects.toThrow(/do not match/);
    await expect(pushes.edit(urlToken, { payload: "z" }, owner)).rejects.toThrow(/do not match/);
    expect(await pushes.find(urlToken, owner)).toMatchObject({ viewsRemaining: 5 });
  }
  await changeRows(db, setKey, sealed ?? Buffer.alloc(0));
  expect(await pushes.edit(urlToken, { payload: "z" }, owner)).toMatchObject({ outcome: "edited" });
});
