import { expect, test } from "vitest";
import { openTestDomain, signedIn, stranger, type TestDomain } from "../../../test/support/domain.ts";
import { readRows, sqliteOf } from "../../../test/support/engine-database.ts";
import { makeFile, pushFiles } from "../../../test/support/files.ts";
import { NeedleFinder } from "../../../test/support/raw-files.ts";
import { SeededNumbers } from "../../../test/support/seeded-numbers.ts";
import { storedIn } from "../../../test/support/stored.ts";
import { makeSweeper } from "../../../test/support/sweeper.ts";

const owner = signedIn(7);
const plainPayload = `the payload before the edit ${"x".repeat(20_000)}`;

interface SealedKey {
  readonly id: number;
  readonly sealed: Buffer;
}

/** The sealed key of every push by the id of the push, without the version and key id that all keys share. */
async function sealedKeys(fixture: TestDomain): Promise<ReadonlyMap<number, Buffer>> {
  const rows = await readRows<SealedKey>(
    fixture.domain.db,
    "SELECT pushes.id AS id, sealed FROM row_secrets JOIN pushes ON row_secret_id = row_secrets.id",
  );
  return new Map(rows.map(({ id, sealed }) => [id, sealed.subarray(5)]));
}

/** SQLite does this by itself shortly after a key is overwritten. */
function truncateLog({ domain: { db } }: TestDomain): void {
  if (db.engine === "sqlite") while (!sqliteOf(db).truncateLog());
}

async function labelsFound<Label>(fixture: TestDomain, finder: NeedleFinder<Label>): Promise<Set<Label>> {
  const found = new Set<Label>();
  for (const bytes of (await storedIn(fixture.dataDir)).values()) {
    for (const label of finder.search(bytes)) found.add(label);
  }
  return found;
}

test("no file or row contains a sealed row secret from before an edit; the current ones are complete", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const numbers = new SeededNumbers(31);
  const finder = new NeedleFinder<string>();
  const made = await Promise.all(
    Array.from({ length: 300 }, () => pushes.create({ payload: "x".repeat(1 + numbers.below(300)) }, owner)),
  );
  let foundBeforeTruncation = 0;
  for (let round = 0; round < 5; round += 1) {
    const before = await sealedKeys(fixture);
    const edited = made.filter(() => numbers.below(3) === 0);
    for (const { urlToken } of edited) {
      const old = before.get(fixture.domain.vault.urlTokens.addressOf(urlToken).pushId);
      finder.add(`${urlToken} before round ${round}`, old ?? Buffer.alloc(0));
    }
    // Prove that the search works.
    expect((await labelsFound(fixture, finder)).size).toBe(edited.length);
    const edits = edited.map(({ urlToken }) =>
      pushes.edit(urlToken, { payload: "y".repeat(1 + numbers.below(3_000)) }, owner),
    );
    // New rows are written between the pages of the edited ones.
    const more = Array.from({ length: 50 }, () => pushes.create({ payload: "x" }, stranger));
    expect((await Promise.all(edits)).every((one) => one.outcome === "edited")).toBe(true);
    await Promise.all(more);
    foundBeforeTruncation += (await labelsFound(fixture, finder)).size;
    truncateLog(fixture);
    expect([...(await labelsFound(fixture, finder))]).toEqual([]);
  }
  // Overwritten bytes are still in the log of the file, unless it was truncated already.
  if (db.engine === "sqlite") expect(foundBeforeTruncation).toBeGreaterThan(0);
  else expect(foundBeforeTruncation).toBe(0);
  const current = new NeedleFinder<string>();
  const keys = await sealedKeys(fixture);
  for (const [id, sealed] of keys) current.add(`push ${id}`, sealed);
  expect((await labelsFound(fixture, current)).size).toBe(keys.size);
  if (db.engine === "sqlite") expect(sqliteOf(db).reader.pragma("integrity_check", { simple: true })).toBe("ok");
});

test("the payload, the keys of kept files and the blobs of removed ones from before an edit are gone, too", async () => {
  await using fixture = await openTestDomain();
  const { pushes, db } = fixture.domain;
  const files = [makeFile("kept", "kept content"), makeFile("removed", "r".repeat(1_000))];
  const { urlToken } = await pushFiles(pushes, owner, files, { payload: plainPayload });
  await pushes.edit(urlToken, { passphrase: "one" }, owner);
  const finder = new NeedleFinder<string>();
  const add = async (label: string, query: string) => {
    for (const { sealed } of await readRows<{ sealed: Buffer }>(db, query)) finder.add(label, sealed.subarray(5));
  };
  await add("payload", "SELECT sealed FROM payloads");
  await add("file key", "SELECT key_sealed AS sealed FROM files");
  const blobs = [...(await storedIn(fixture.dataDir))].filter(([name]) => name.startsWith("blobs"));
  const removedBlob = blobs.find(([, bytes]) => bytes.length > 1_000);
  finder.add("blob", removedBlob?.[1] ?? Buffer.alloc(0));
  expect(await labelsFound(fixture, finder)).toEqual(new Set(["payload", "file key", "blob"]));

  const editable = await pushes.findEditable(urlToken, owner);
  const removed = editable?.files.find((file) => file.filename === "removed")?.id ?? 0;
  const change = { payload: "short", removedFileIds: [removed], currentPassphrase: "one" };
  expect(await pushes.edit(urlToken, change, owner)).toMatchObject({ outcome: "edited" });
  await makeSweeper(fixture).sweep();
  truncateLog(fixture);
  expect([...(await labelsFound(fixture, finder))]).toEqual([]);
});
