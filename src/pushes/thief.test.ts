import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../test/support/domain.ts";
import { readRows } from "../../test/support/engine-database.ts";
import { open, unringedKey } from "../crypto/seal.ts";
import { sealedColumns } from "../crypto/sealed-columns.ts";
import { openDataKey, openPayload, sealContexts } from "./seals.ts";
import type { SealedPush } from "./store/tables.ts";

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
  { row, dataKeySealed, payloadSealed }: SealedPush,
): Promise<readonly Buffer[]> {
  const { keyring, db } = fixture.domain;
  const query = "SELECT link_check AS linkCheck FROM pushes WHERE id = ?";
  const [{ linkCheck } = {}] = await readRows<{ linkCheck?: Buffer }>(db, query, row.id);
  const inner = keyring.open(sealedColumns.dataKey, row, dataKeySealed ?? Buffer.alloc(0));
  return [row.linkSalt, row.passphraseSalt, linkCheck, inner, dataKeySealed, payloadSealed].filter(
    (value) => value !== undefined && value !== null,
  );
}

test("database and master key together open no anonymous push", async () => {
  await using fixture = await openTestDomain();
  const { pushes, keyring } = fixture.domain;
  const { urlToken } = await pushes.create({ payload: "hunter2" }, stranger);
  const push = await stolen(fixture, urlToken);
  expect(push.row).toMatchObject({ tokenSealed: null, nameSealed: null, noteSealed: null });
  const inner = keyring.open(sealedColumns.dataKey, push.row, push.dataKeySealed ?? Buffer.alloc(0));
  if (inner === undefined) throw new Error("The outer seal is the master key's.");
  const context = sealContexts.link(push.row.id, push.row.sealGeneration);
  for (const value of await candidates(fixture, push)) {
    for (const text of [value.toString("latin1"), value.toString("hex"), value.toString("base64url")]) {
      const secrets = { urlToken: text, passphraseHash: undefined };
      expect(openDataKey(keyring, push.row, push.dataKeySealed ?? Buffer.alloc(0), secrets).outcome).toBe("wrong_link");
    }
    if (value.length >= 32) expect(open(unringedKey(value.subarray(0, 32)), context, inner)).toBeUndefined();
  }
});

test("they open an owned push without a passphrase, and only the labels of one with a passphrase", async () => {
  await using fixture = await openTestDomain();
  const { pushes, keyring } = fixture.domain;
  const owner = signedIn(7);
  const { urlToken: plain } = await pushes.create({ payload: "hunter2" }, owner);
  const { urlToken: guarded } = await pushes.create({ payload: "hunter3", passphrase: "p", name: "VPN" }, owner);
  const readToken = (push: SealedPush) =>
    keyring.open(sealedColumns.urlToken, push.row, push.row.tokenSealed ?? Buffer.alloc(0))?.toString("utf8") ?? "";

  const first = await stolen(fixture, plain);
  const secrets = { urlToken: readToken(first), passphraseHash: undefined };
  const opened = openDataKey(keyring, first.row, first.dataKeySealed ?? Buffer.alloc(0), secrets);
  if (opened.outcome !== "opened") throw new Error("The threat model says that this opens.");
  const payloadContext = { ...first.row, fileIds: [] };
  expect(openPayload(opened.dataKey, payloadContext, first.payloadSealed ?? Buffer.alloc(0))).toBe("hunter2");

  const second = await stolen(fixture, guarded);
  expect(readToken(second)).toBe(guarded);
  const withoutPassphrase = { urlToken: guarded, passphraseHash: undefined };
  const refused = openDataKey(keyring, second.row, second.dataKeySealed ?? Buffer.alloc(0), withoutPassphrase);
  expect(refused.outcome).toBe("wrong_link");
});
