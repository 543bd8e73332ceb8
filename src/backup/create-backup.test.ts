import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeBackupFixture } from "../../test/support/backups.ts";
import { openTestDomain, signedIn, type TestDomain } from "../../test/support/domain.ts";
import { claimFiles, makeFile, pushFiles } from "../../test/support/files.ts";
import { makeFolder } from "../../test/support/folders.ts";
import { filesIn } from "../../test/support/raw-files.ts";
import { makeSweeper } from "../../test/support/sweeper.ts";
import { systemRandom } from "../base/random.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import { markerName } from "../blobs/file-blob-store.ts";
import { createBackup } from "./create-backup.ts";
import { blobPathInBackup, type Manifest } from "./manifest.ts";
import { openBackup, readBackup } from "./read-backup.ts";

const owner = signedIn(7);
const forms = [["folder", "b"] as const, ["archive", "b.tar"] as const];

function backUp(fixture: TestDomain, to: string, blobs: BlobStore = fixture.domain.blobs) {
  const deps = {
    databasePath: join(fixture.dataDir, "sealpush.sqlite3"),
    dataDir: fixture.dataDir,
    blobs,
    keyring: fixture.domain.keyring,
    clock: fixture.clock,
    random: systemRandom,
    version: "1.2.3",
    pipe: async () => undefined,
    signal: new AbortController().signal,
  };
  return createBackup(deps, to);
}

/** Unpacks and checks the backup. @returns its manifest. */
async function unpacked(fixture: TestDomain, from: string): Promise<Manifest> {
  const unpackTo = { folder: mkdtempSync(join(makeFolder(), "unpacked-")), blobs: true };
  const options = { keyring: fixture.domain.keyring, unpackTo, signal: new AbortController().signal };
  return await readBackup(openBackup(from), options);
}

/** The blob store; each of the functions runs before one of the first reads. */
function disturbed(blobs: BlobStore, disturbances: readonly (() => Promise<unknown>)[]): BlobStore {
  const left = [...disturbances];
  return {
    ...blobs,
    async *read(key, range) {
      await left.shift()?.();
      yield* blobs.read(key, range);
    },
  };
}

async function blobKeysOf(fixture: TestDomain, urlToken: string): Promise<readonly string[]> {
  const row = await fixture.domain.store.find(fixture.domain.vault.urlTokens.addressOf(urlToken));
  return (await fixture.domain.store.files(row?.id ?? 0)).map(({ blobKey }) => blobKey);
}

/** Ends the pushes and deletes their files. */
async function endAll(fixture: TestDomain, ended: readonly { readonly urlToken: string }[]): Promise<void> {
  for (const { urlToken } of ended) await fixture.domain.pushes.expire(urlToken, owner);
  await makeSweeper(fixture).sweep();
}

test.each(forms)("a push that ends while its files are copied to a %s has ended in the backup", async (_form, name) => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const first = await pushFiles(pushes, owner, [makeFile("a", "first")]);
  const second = await pushFiles(pushes, owner, [makeFile("b", "second")]);
  const endBoth = () => endAll(fixture, [first, second]);
  const backupDir = makeFolder();
  const { manifest } = await backUp(fixture, join(backupDir, name), disturbed(fixture.domain.blobs, [endBoth]));
  expect(manifest).toMatchObject({ counts: { livePushes: 0, files: 0 }, pushesWithoutFiles: [] });
  expect(await unpacked(fixture, join(backupDir, name))).toEqual(manifest);
});

test("a restore removes the files of pushes that ended after they were copied", async () => {
  const commands = makeBackupFixture();
  const source = await commands.open();
  const { pushes } = source.domain;
  const first = await pushFiles(pushes, owner, [makeFile("a", "first")]);
  const second = await pushFiles(pushes, owner, [makeFile("b", "second")]);
  const endBoth = () => endAll(source, [first, second]);
  const to = join(commands.backupDir, "b");
  // One file is copied. The other one is missing then, so the database is copied again and names neither.
  const blobs = disturbed(source.domain.blobs, [async () => undefined, endBoth]);
  const { manifest } = await backUp(source, to, blobs);
  expect(manifest).toMatchObject({ counts: { livePushes: 0, files: 0 }, pushesWithoutFiles: [] });
  expect(manifest.files).toHaveLength(2);
  const dataDir = join(commands.backupDir, "restored");
  await commands.run(["restore", "--from", to, "--keep-open"], { dataDir });
  expect([...filesIn(dataDir).keys()]).toEqual([`blobs/${markerName}`, "sealpush.sqlite3"]);
});

test("a push that is edited while its files are copied has the edited version in the backup", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  const first = await pushFiles(pushes, owner, [makeFile("a", "stays")]);
  const edited = await pushFiles(pushes, owner, [makeFile("b", "goes")]);
  const [gone = ""] = await blobKeysOf(fixture, edited.urlToken);
  const editIt = async () => {
    const [file] = (await pushes.findEditable(edited.urlToken, owner))?.files ?? [];
    const upload = await pushes.beginUpload(owner);
    await upload.addFile(makeFile("c", "comes"));
    const removedFileIds = file === undefined ? [] : [file.id];
    expect((await pushes.edit(edited.urlToken, { upload, removedFileIds }, owner)).outcome).toBe("edited");
    await makeSweeper(fixture).sweep();
  };
  const to = join(makeFolder(), "b");
  const { manifest } = await backUp(fixture, to, disturbed(fixture.domain.blobs, [editIt]));
  expect(manifest).toMatchObject({ counts: { livePushes: 2, files: 2 }, pushesWithoutFiles: [] });
  const keys = [...(await blobKeysOf(fixture, first.urlToken)), ...(await blobKeysOf(fixture, edited.urlToken))];
  expect(keys).not.toContain(gone);
  for (const key of keys) expect(existsSync(join(to, blobPathInBackup(key)))).toBe(true);
  await unpacked(fixture, to);
});

test("a push that ends during the last round is named, and the backup is still made", async () => {
  await using fixture = await openTestDomain();
  const { pushes } = fixture.domain;
  let newest = await pushFiles(pushes, owner, [makeFile("a", "a")]);
  const replaceNewest = async () => {
    await pushes.expire(newest.urlToken, owner);
    await makeSweeper(fixture).sweep();
    newest = await pushFiles(pushes, owner, [makeFile("a", "a")]);
  };
  const to = join(makeFolder(), "b.tar");
  const three = [replaceNewest, replaceNewest, replaceNewest];
  const { manifest } = await backUp(fixture, to, disturbed(fixture.domain.blobs, three));
  expect(manifest).toMatchObject({ counts: { livePushes: 1, files: 1 } });
  expect(manifest.pushesWithoutFiles).toHaveLength(1);
  expect(manifest.files).toHaveLength(1);
  expect(await unpacked(fixture, to)).toEqual(manifest);
});

test.each(forms)(
  "a file that is lost or cut off in the store does not stop a %s; its push is named",
  async (_form, name) => {
    await using fixture = await openTestDomain();
    const { pushes } = fixture.domain;
    const whole = await pushFiles(pushes, owner, [makeFile("a", "whole")]);
    const lost = await pushFiles(pushes, owner, [makeFile("b", "lost")]);
    const cut = await pushFiles(pushes, owner, [makeFile("c", "cut off".repeat(1_000))]);
    const [[lostKey = ""], [cutKey = ""]] = [
      await blobKeysOf(fixture, lost.urlToken),
      await blobKeysOf(fixture, cut.urlToken),
    ];
    rmSync(join(fixture.dataDir, blobPathInBackup(lostKey)));
    truncateSync(join(fixture.dataDir, blobPathInBackup(cutKey)), 1_000);
    const to = join(makeFolder(), name);
    const { manifest } = await backUp(fixture, to);
    const idOf = async (urlToken: string) =>
      (await fixture.domain.store.find(fixture.domain.vault.urlTokens.addressOf(urlToken)))?.id;
    expect(manifest.pushesWithoutFiles).toEqual([await idOf(lost.urlToken), await idOf(cut.urlToken)]);
    expect(await unpacked(fixture, to)).toEqual(manifest);
    expect(await claimFiles(pushes, whole.urlToken, owner)).toHaveLength(1);
  },
);

test("a store that fails while it is read stops the backup, and nothing of it remains", async () => {
  await using fixture = await openTestDomain();
  await pushFiles(fixture.domain.pushes, owner, [makeFile("a", "x")]);
  const fail = async () => {
    throw new Error("The store is out of reach.");
  };
  for (const [, name] of forms) {
    const backupDir = makeFolder();
    await expect(backUp(fixture, join(backupDir, name), disturbed(fixture.domain.blobs, [fail]))).rejects.toThrow(
      "out of reach",
    );
    expect(readdirSync(backupDir)).toEqual([]);
  }
});
