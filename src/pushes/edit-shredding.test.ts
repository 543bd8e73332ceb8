import { expect, test } from "vitest";
import { makeFile, pushFiles } from "../../test/support/files.ts";
import { openTestHouse, signedIn, stranger, type TestHouse } from "../../test/support/house.ts";
import { NeedleFinder, readAllFiles } from "../../test/support/raw-files.ts";
import { SeededNumbers } from "../../test/support/seeded-numbers.ts";
import { makeSweeper } from "../../test/support/sweeper.ts";
import { open, unringedKey } from "../crypto/seal.ts";
import { openDataKey, sealContexts } from "./seals.ts";

const owner = signedIn(7);
const plainPayload = `the payload before the edit ${"x".repeat(20_000)}`;

interface SealedKey {
  readonly digest: Buffer;
  readonly sealed: Buffer;
}

/** Of every push, by the digest of its token; without version and key id, which all keys have in common. */
function sealedKeys(world: TestHouse): ReadonlyMap<string, Buffer> {
  const rows = world.house.db.reader
    .prepare<[], SealedKey>(
      "SELECT token_digest AS digest, sealed FROM data_keys JOIN pushes ON data_key_id = data_keys.id",
    )
    .all();
  return new Map(rows.map(({ digest, sealed }) => [digest.toString("hex"), sealed.subarray(5)]));
}

function cutLog(world: TestHouse): void {
  while (!world.house.db.truncateLog());
}

function labelsFound<Label>(world: TestHouse, finder: NeedleFinder<Label>): Set<Label> {
  const found = new Set<Label>();
  for (const bytes of readAllFiles(world.dataDir).values()) for (const label of finder.search(bytes)) found.add(label);
  return found;
}

test("of the sealed data keys from before edits nothing is left in any file, of those that hold all", async () => {
  await using world = await openTestHouse();
  const { pushes, db } = world.house;
  const numbers = new SeededNumbers(31);
  const finder = new NeedleFinder<string>();
  const made = await Promise.all(
    Array.from({ length: 300 }, () => pushes.create({ payload: "x".repeat(1 + numbers.below(300)) }, owner)),
  );
  for (let round = 0; round < 5; round += 1) {
    const before = sealedKeys(world);
    const edited = made.filter(() => numbers.below(3) === 0);
    for (const { urlToken } of edited) {
      const old = before.get(world.house.vault.tokenDigest(urlToken).toString("hex"));
      finder.add(`${urlToken} before round ${round}`, old ?? Buffer.alloc(0));
    }
    const edits = edited.map(({ urlToken }) =>
      pushes.edit(urlToken, { payload: "y".repeat(1 + numbers.below(3_000)) }, owner),
    );
    // New rows come between the edited ones' pages.
    const more = Array.from({ length: 50 }, () => pushes.create({ payload: "x" }, stranger));
    expect((await Promise.all(edits)).every((one) => one.outcome === "edited")).toBe(true);
    await Promise.all(more);
    // The search itself is sound: what was just overwritten still lies in the log.
    expect(labelsFound(world, finder).size).toBeGreaterThan(0);
    cutLog(world);
    expect([...labelsFound(world, finder)]).toEqual([]);
  }
  const current = new NeedleFinder<string>();
  for (const [digest, sealed] of sealedKeys(world)) current.add(digest, sealed);
  expect(labelsFound(world, current).size).toBe(sealedKeys(world).size);
  expect(db.reader.pragma("integrity_check", { simple: true })).toBe("ok");
});

test("the payload, the keys of kept files and the blobs of removed ones from before an edit are gone as well", async () => {
  await using world = await openTestHouse();
  const { pushes, db } = world.house;
  const files = [makeFile("kept", "kept content"), makeFile("removed", "r".repeat(1_000))];
  const { urlToken } = await pushFiles(pushes, owner, files, { payload: plainPayload });
  await pushes.edit(urlToken, { passphrase: "one" }, owner);
  const finder = new NeedleFinder<string>();
  const sealedPayload = db.reader.prepare<[], { sealed: Buffer }>("SELECT sealed FROM payloads").get();
  finder.add("payload", sealedPayload?.sealed.subarray(5) ?? Buffer.alloc(0));
  for (const { sealed } of db.reader.prepare<[], { sealed: Buffer }>("SELECT key_sealed AS sealed FROM files").all()) {
    finder.add("file key", sealed.subarray(5));
  }
  const blobs = [...readAllFiles(world.dataDir)].filter(([name]) => name.startsWith("blobs"));
  const removedBlob = blobs.find(([, bytes]) => bytes.length > 1_000);
  finder.add("blob", removedBlob?.[1] ?? Buffer.alloc(0));
  expect(labelsFound(world, finder)).toEqual(new Set(["payload", "file key", "blob"]));

  const editable = await pushes.findEditable(urlToken, owner);
  const removed = editable?.files.find((file) => file.filename === "removed")?.id ?? 0;
  const change = { payload: "short", removedFileIds: [removed], currentPassphrase: "one" };
  expect(await pushes.edit(urlToken, change, owner)).toMatchObject({ outcome: "edited" });
  await makeSweeper(world).sweep();
  cutLog(world);
  expect([...labelsFound(world, finder)]).toEqual([]);
});

test("an old link key and an old data key open nothing of what is sealed now", async () => {
  await using world = await openTestHouse();
  const { pushes, keyring, store, vault } = world.house;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "in a")], { payload: "old" });
  const old = await store.findSealed(vault.tokenDigest(urlToken));
  if (old?.dataKeySealed == null) throw new Error("The push is not there.");
  const opened = openDataKey(keyring, old.row, old.dataKeySealed, { urlToken, passphraseHash: undefined });
  if (opened.outcome !== "opened") throw new Error("The data key does not open.");
  await pushes.edit(urlToken, { payload: "new", passphrase: "two" }, owner);
  const now = await store.findSealed(vault.tokenDigest(urlToken));
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

test("rows that do not fit together fail an edit like a claim, and it changes nothing", async () => {
  await using world = await openTestHouse();
  const { pushes, db } = world.house;
  const { urlToken } = await pushFiles(pushes, owner, [makeFile("a", "in a")], { payload: "old" });
  await pushes.edit(urlToken, { payload: "new" }, owner);
  const keyOf = db.reader.prepare<[], { sealed: Buffer }>("SELECT key_sealed AS sealed FROM files").get()?.sealed;
  const changes = [
    "UPDATE files SET key_sealed = NULL",
    "UPDATE files SET key_sealed = randomblob(65)",
    "UPDATE files SET key_sealed = (SELECT sealed FROM payloads)",
  ];
  for (const sql of changes) {
    await db.write(() => db.writer.exec(sql));
    await expect(pushes.claimView(urlToken, { counting: "everyone" }, stranger)).rejects.toThrow(/do not fit/);
    await expect(pushes.edit(urlToken, { payload: "z" }, owner)).rejects.toThrow(/do not fit/);
    expect(await pushes.find(urlToken, owner)).toMatchObject({ viewsRemaining: 5 });
  }
  await db.write(() => db.writer.prepare("UPDATE files SET key_sealed = ?").run(keyOf));
  expect(await pushes.edit(urlToken, { payload: "z" }, owner)).toMatchObject({ outcome: "edited" });
});
