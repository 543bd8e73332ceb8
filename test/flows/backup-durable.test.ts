import { readdirSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type BackupFixture, keySettings, makeBackupFixture } from "../support/backups.ts";
import { signedIn } from "../support/domain.ts";
import { makeFile, pushFiles } from "../support/files.ts";

/** The numbers of the files and folders that this process has synced since, whatever they were named then. */
async function watchSyncs(): Promise<ReadonlySet<number>> {
  const handle = await open(import.meta.filename, "r");
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  const synced = new Set<number>();
  const spy = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
    await sync.call(this);
    synced.add((await this.stat()).ino);
  });
  onTestFinished(() => spy.mockRestore());
  return synced;
}

/** @returns the paths of what was not synced; "": the folder itself. */
function unsynced(folder: string, synced: ReadonlySet<number>): readonly string[] {
  const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  return paths.filter((path) => !synced.has(statSync(join(folder, path)).ino));
}

async function withFile(): Promise<BackupFixture> {
  const fixture = makeBackupFixture();
  await using source = await fixture.open();
  await pushFiles(source.domain.pushes, signedIn(7), [makeFile("a.txt", "content")]);
  return fixture;
}

test.each(["b", "b.tar"])(
  "a backup is on the disk before the command ends, with the folder that has its name: %s",
  async (name) => {
    const { backupDir, run } = await withFile();
    const synced = await watchSyncs();
    await run(["backup", "--to", join(backupDir, name)]);
    expect(unsynced(backupDir, synced)).toEqual([]);
  },
);

test("a restored data folder is on the disk before the command ends", async () => {
  const { backupDir, run } = await withFile();
  await run(["backup", "--to", join(backupDir, "b")]);
  const dataDir = join(backupDir, "restored");
  const synced = await watchSyncs();
  await run(["restore", "--from", join(backupDir, "b"), "--keep-open"], { dataDir, settings: keySettings });
  expect(unsynced(dataDir, synced)).toEqual([]);
});
