import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../test/support/domain.ts";
import { readRows } from "../../test/support/engine-database.ts";
import { derivePushKey } from "../crypto/push-key.ts";
import { keyBytes } from "../crypto/sodium.ts";
import { listFiles, openPayload } from "./seals.ts";
import { pushes as pushTable, rowSecrets, type SealedPush } from "./store/tables.ts";

/** The thief has the database, the master key and the source code. The domain provides the first two. */
async function stolen(fixture: TestDomain, urlToken: string): Promise<SealedPush> {
  const push = await fixture.domain.store.findSealed(
    fixture.domain.vault.urlTokens.addressOf(urlToken),
    () => undefined,
  );
  if (push === undefined) throw new Error("The push is not there.");
  return push;
}

/** Every stored value that could be a link, or could be used as a key. */
async function candidates(
  fixture: TestDomain,
  { row, rowSecretSealed, payloadSealed }: SealedPush,
  rowSecret: Buffer,
): Promise<readonly Buffer[]> {
  const query = "SELECT link_check AS linkCheck FROM pushes WHERE id = ?";
  const [{ linkCheck } = {}] = await readRows<{ linkCheck?: Buffer }>(fixture.domain.db, query, row.id);
  return [row.keyCheck, row.passphraseSalt, linkCheck, rowSecret, rowSecretSealed, payloadSealed].filter(
    (value) => value !== undefined && value !== null,
  );
}

/** The master key opens the row secret, which is one half of the push key. */
function openedRowSecret({ domain: { keyring } }: TestDomain, push: SealedPush): Buffer {
  const secret = keyring.open(rowSecrets.seals.rowSecret, push.row, push.rowSecretSealed ?? Buffer.alloc(0));
  if (secret === undefined) throw new Error("The threat model says that this opens.");
  return secret;
}

test("database and master key together open no anonymous push", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2" }, stranger);
  const push = await stolen(fixture, urlToken);
  const { row, payloadSealed } = push;
  expect(row).toMatchObject({ tokenSealed: null, nameSealed: null, noteSealed: null });
  const rowSecret = openedRowSecret(fixture, push);
  for (const value of await candidates(fixture, push, rowSecret)) {
    for (const text of [value.toString("latin1"), value.toString("hex"), value.toString("base64url")]) {
      const key = derivePushKey(rowSecret, { urlToken: text, passphraseHash: undefined }, row);
      expect(key.check.equals(row.keyCheck)).toBe(false);
      expect(openPayload(key, row, listFiles([]), payloadSealed ?? Buffer.alloc(0))).toBeUndefined();
    }
    if (value.length < keyBytes) continue;
    const payloadKey = value.subarray(0, keyBytes);
    expect(openPayload({ payloadKey }, row, listFiles([]), payloadSealed ?? Buffer.alloc(0))).toBeUndefined();
  }
  // With the link the same steps open it.
  const key = derivePushKey(rowSecret, { urlToken, passphraseHash: undefined }, row);
  expect(openPayload(key, row, listFiles([]), payloadSealed ?? Buffer.alloc(0))).toBe("hunter2");
});

test("they open an owned push without a passphrase, and only the labels of one with a passphrase", async () => {
  await using fixture = await openTestDomain();
  const { pushes, storedLinkKeys } = fixture.domain;
  const owner = signedIn(7);
  const { urlToken: plain } = await pushes.create({ payload: "hunter2" }, owner);
  const { urlToken: guarded } = await pushes.create({ payload: "hunter3", passphrase: "p", name: "VPN" }, owner);
  // The master key opens the link secret of the account.
  const storedLinkKey = await storedLinkKeys.find(7);
  const readToken = ({ row }: SealedPush) => {
    const opened = storedLinkKey?.open(pushTable.seals.urlToken, row, row.tokenSealed ?? Buffer.alloc(0));
    return opened === undefined || opened === "other_key" ? "" : opened.link;
  };
  const deriveKey = (push: SealedPush) =>
    derivePushKey(openedRowSecret(fixture, push), { urlToken: readToken(push), passphraseHash: undefined }, push.row);

  const first = await stolen(fixture, plain);
  expect(openPayload(deriveKey(first), first.row, listFiles([]), first.payloadSealed ?? Buffer.alloc(0))).toBe(
    "hunter2",
  );

  const second = await stolen(fixture, guarded);
  expect(readToken(second)).toBe(guarded);
  expect(deriveKey(second).check.equals(second.row.keyCheck)).toBe(false);
  expect(
    openPayload(deriveKey(second), second.row, listFiles([]), second.payloadSealed ?? Buffer.alloc(0)),
  ).toBeUndefined();
});

test("without the row secret, link and passphrase open nothing", async () => {
  await using fixture = await openTestDomain();
  const { urlToken } = await fixture.domain.pushes.create({ payload: "hunter2" }, stranger);
  const { row, payloadSealed } = await stolen(fixture, urlToken);
  for (const rowSecret of [Buffer.alloc(keyBytes), row.keyCheck]) {
    const key = derivePushKey(rowSecret, { urlToken, passphraseHash: undefined }, row);
    expect(openPayload(key, row, listFiles([]), payloadSealed ?? Buffer.alloc(0))).toBeUndefined();
  }
});
