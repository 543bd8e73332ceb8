import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { type BackupFixture, keySettings, makeBackupFixture } from "../support/backups.ts";
import { makeTestCli } from "../support/cli.ts";
import { databaseFile } from "../support/database-file.ts";
import { signedIn, stranger } from "../support/domain.ts";
import { makeFile, pushFiles } from "../support/files.ts";
import { filesIn } from "../support/raw-files.ts";

const otherKey = "0d".repeat(32);

/** A backup as a folder and as an archive, of a domain with a file. */
async function backedUp(): Promise<BackupFixture & { readonly folder: string; readonly archive: string }> {
  const fixture = makeBackupFixture();
  await using source = await fixture.open();
  await source.domain.pushes.create({ payload: "x" }, stranger);
  await pushFiles(source.domain.pushes, signedIn(7), [makeFile("a.txt", "content".repeat(20_000))]);
  const [folder, archive] = [join(fixture.backupDir, "b"), join(fixture.backupDir, "b.tar")];
  await fixture.run(["backup", "--to", folder]);
  await fixture.run(["backup", "--to", archive]);
  return { ...fixture, folder, archive };
}

/** Expects that restore and verification are refused with this sentence, and that nothing is created. */
async function expectRefused(fixture: BackupFixture, from: string, sentence: RegExp | string): Promise<void> {
  const dataDir = join(fixture.backupDir, "restored");
  expect(await fixture.refused(["restore", "--from", from, "--keep-open"], { dataDir })).toMatch(sentence);
  expect(existsSync(dataDir) ? readdirSync(dataDir) : []).toEqual([]);
  expect(await fixture.refused(["backup", "verify", "--from", from])).toMatch(sentence);
}

function blobIn(folder: string): string {
  const name = [...filesIn(folder).keys()].find((path) => path.startsWith("blobs/"));
  if (name === undefined) throw new Error("The backup has no blob.");
  return join(folder, name);
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

describe("a backup that was damaged or changed", () => {
  test("in its database or in a file is refused, and the message names the damaged file", async () => {
    const fixture = await backedUp();
    flipByte(blobIn(fixture.folder), 1_000);
    await expectRefused(fixture, fixture.folder, /blobs\/.* is damaged or was changed/);
    flipByte(blobIn(fixture.folder), 1_000);
    flipByte(join(fixture.folder, "sealpush.sqlite3"), 5_000);
    await expectRefused(fixture, fixture.folder, "sealpush.sqlite3 in the backup is damaged or was changed");
  });

  test("by an attacker who corrected the checksums is refused, because the manifest is sealed", async () => {
    const fixture = await backedUp();
    const database = join(fixture.folder, "sealpush.sqlite3");
    const before = readFileSync(database);
    const db = new Database(database);
    db.prepare(
      `INSERT INTO users (id, email, admin, created_at, updated_at, has_password, second_factors)
       VALUES (9, 'm@x', 1, 1, 1, 0, 0)`,
    ).run();
    db.close();
    const sum = (bytes: Buffer) => execFileSync("sha256sum", { input: bytes }).toString().slice(0, 64);
    const manifest = join(fixture.folder, "manifest.json");
    const text = readFileSync(manifest, "utf8");
    const after = readFileSync(database);
    const forged = text
      .replace(sum(before), sum(after))
      .replace(`"bytes": ${before.length}`, `"bytes": ${after.length}`);
    expect(forged).not.toBe(text);
    writeFileSync(manifest, forged);
    await expectRefused(fixture, fixture.folder, "was changed after the backup was made");
  });

  test("is refused if a file, the seal or the manifest is missing, or the manifest is not JSON", async () => {
    const fixture = await backedUp();
    const without = (name: string) => {
      const copy = join(fixture.backupDir, `without-${name.replaceAll("/", "-")}`);
      cpSync(fixture.folder, copy, { recursive: true });
      rmSync(join(copy, name));
      return copy;
    };
    for (const name of [
      "manifest.json",
      "manifest.seal",
      "sealpush.sqlite3",
      blobIn(fixture.folder).slice(fixture.folder.length + 1),
    ]) {
      await expectRefused(fixture, without(name), "it is not complete");
    }
    writeFileSync(join(fixture.folder, "manifest.json"), "{");
    await expectRefused(fixture, fixture.folder, "it is not JSON");
    await expectRefused(fixture, join(fixture.backupDir, "nowhere"), "There is no backup at");
  });

  test("is refused as an archive wherever it was truncated, and if a file was added to it", async () => {
    const fixture = await backedUp();
    const whole = readFileSync(fixture.archive);
    const cut = join(fixture.backupDir, "cut.tar");
    for (const bytes of [100, 512, 3_000, Math.floor(whole.length / 2), whole.length - 1_024]) {
      writeFileSync(cut, whole);
      truncateSync(cut, bytes);
      await expectRefused(fixture, cut, /ends too early|not completed/);
    }
    writeFileSync(cut, whole.subarray(0, whole.length - 2_048 - 1_024));
    appendFileSync(cut, Buffer.alloc(1_024));
    await expectRefused(fixture, cut, /not completed|damaged|ends too early/);

    writeFileSync(join(fixture.backupDir, "evil"), "x");
    for (const name of ["../evil", "/tmp/evil", "master.key", "blobs/ab/../../evil"]) {
      const changed = join(fixture.backupDir, "changed.tar");
      writeFileSync(changed, whole);
      execFileSync("tar", ["-rf", changed, "-P", `--transform=s|.*|${name}|`, "-C", fixture.backupDir, "evil"]);
      await expectRefused(fixture, changed, "a file that does not belong to a backup");
    }
  });
});

describe("the master key", () => {
  test("that sealed the backup is required; the message names it by its id", async () => {
    const fixture = await backedUp();
    const [keyId = ""] = JSON.parse(readFileSync(join(fixture.folder, "manifest.json"), "utf8")).key_ids;
    expect(keyId).toMatch(/^[0-9a-f]{8}$/);
    for (const from of [fixture.folder, fixture.archive]) {
      const dataDir = join(fixture.backupDir, "restored");
      const settings = { PWPUSH_MASTER_KEY: otherKey };
      const said = await fixture.refused(["restore", "--from", from, "--keep-open"], { dataDir, settings });
      expect(said).toContain(`master key ${keyId}`);
      expect(readdirSync(dataDir)).toEqual([]);
      await fixture.run(["restore", "--from", from, "--keep-open"], {
        dataDir,
        settings: { ...settings, PWPUSH_MASTER_KEY_PREVIOUS: keySettings.PWPUSH_MASTER_KEY },
      });
      rmSync(dataDir, { recursive: true });
    }
  });

  test("is not generated by a restore that lacks it", async () => {
    const fixture = await backedUp();
    const dataDir = join(fixture.backupDir, "restored");
    const said = await fixture.refused(["restore", "--from", fixture.folder, "--end-all"], { dataDir, settings: {} });
    expect(said).toContain("PWPUSH_MASTER_KEY");
    expect(existsSync(dataDir)).toBe(false);
  });

  test("in the data folder opens the backup too, and is kept", async () => {
    const fixture = await backedUp();
    const dataDir = join(fixture.backupDir, "restored");
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "master.key"), keySettings.PWPUSH_MASTER_KEY, { mode: 0o600 });
    await fixture.run(["restore", "--from", fixture.folder, "--keep-open"], { dataDir, settings: {} });
    expect(readdirSync(dataDir).sort()).toEqual(["blobs", "master.key", "sealpush.sqlite3"]);
  });

  test("of another database is refused, because the backup could not be restored", async () => {
    const fixture = await backedUp();
    const said = await fixture.refused(["backup", "--to", join(fixture.backupDir, "c")], {
      settings: { PWPUSH_MASTER_KEY: otherKey },
    });
    expect(said).toContain("could not be restored");
    expect(readdirSync(fixture.backupDir).sort()).toEqual(["b", "b.tar"]);
  });

  test("is not needed to check for damage, and its absence is reported", async () => {
    const fixture = await backedUp();
    const argv = ["backup", "verify", "--from", fixture.archive];
    const said = await fixture.run(argv, { dataDir: join(fixture.backupDir, "none"), settings: {} });
    expect(said).toContain("checked for damage only");
  });
});

describe("existing data", () => {
  test("is never overwritten by a backup", async () => {
    const fixture = await backedUp();
    for (const to of [fixture.folder, fixture.archive]) {
      expect(await fixture.refused(["backup", "--to", to])).toContain("exists already");
    }
    mkdirSync(join(fixture.backupDir, "empty"));
    expect(await fixture.refused(["backup", "--to", join(fixture.backupDir, "empty")])).toContain("exists already");
    expect(await fixture.refused(["backup", "--to", join(fixture.backupDir, "no", "b")])).toContain("does not exist");
    expect(await fixture.refused(["backup"])).toContain("--to");
  });

  test("cannot contain its own backup, by whatever path the data folder is named", async () => {
    const fixture = await backedUp();
    const { dataDir } = fixture.cli;
    const byLink = join(fixture.backupDir, "link");
    symlinkSync(dataDir, byLink);
    const before = readdirSync(dataDir);
    for (const place of [dataDir, byLink, join(dataDir, "blobs")]) {
      for (const name of ["c", "c.tar"]) {
        expect(await fixture.refused(["backup", "--to", join(place, name)])).toContain("is in the data folder");
      }
    }
    const linked = { dataDir: byLink };
    expect(await fixture.refused(["backup", "--to", join(dataDir, "c")], linked)).toContain("is in the data folder");
    expect(readdirSync(dataDir)).toEqual(before);
  });

  test("is never overwritten by a restore, and is not changed", async () => {
    const fixture = await backedUp();
    const restore = ["restore", "--from", fixture.folder, "--keep-open"];
    const before = filesIn(fixture.cli.dataDir);
    expect(await fixture.refused(restore)).toContain("exists already");
    expect(filesIn(fixture.cli.dataDir)).toEqual(before);

    for (const name of ["sealpush.sqlite3-wal", "blobs/ab/left"]) {
      const dataDir = join(fixture.backupDir, "occupied");
      mkdirSync(join(dataDir, "blobs/ab"), { recursive: true });
      writeFileSync(join(dataDir, name), "left");
      expect(await fixture.refused(restore, { dataDir })).toMatch(/exists already|is not empty/);
      expect([...filesIn(dataDir).keys()]).toEqual([name]);
      rmSync(dataDir, { recursive: true });
    }
  });

  test("of an interrupted restore prevents every start and every other restore", async () => {
    const fixture = await backedUp();
    const dataDir = join(fixture.backupDir, "restored");
    mkdirSync(join(dataDir, "restore-unfinished"), { recursive: true });
    const sentence = "is running or was interrupted";
    expect(await fixture.refused(["restore", "--from", fixture.folder, "--keep-open"], { dataDir })).toContain(
      sentence,
    );
    await expect(fixture.open(dataDir)).rejects.toThrow(sentence);
    // Also where its database is in place already.
    for (const command of [
      ["backup", "--to", join(fixture.backupDir, "b2")],
      ["user", "list"],
      ["user", "create", "--email", "a@example.com", "--show-password"],
    ]) {
      expect(await fixture.refused(command, { dataDir })).toContain(sentence);
    }
    expect(readdirSync(dataDir)).toEqual(["restore-unfinished"]);
  });
});

test("a database outside the data folder is restored there; if that fails, the restored files are removed", async () => {
  const fixture = await backedUp();
  const restore = ["restore", "--from", fixture.folder, "--keep-open"];
  const dataDir = join(fixture.backupDir, "restored");
  writeFileSync(join(fixture.backupDir, "file"), "no folder");
  const at = (path: string) => ({ dataDir, settings: { ...keySettings, DATABASE_URL: `sqlite:${path}` } });
  expect(await fixture.refused(restore, at(join(fixture.backupDir, "file", "db")))).toContain("exists already");
  expect(readdirSync(dataDir)).toEqual([]);
  const path = join(fixture.backupDir, "elsewhere", "sealpush.db");
  await fixture.run(restore, at(path));
  expect(readdirSync(dataDir)).toEqual(["blobs"]);
  await fixture.open(dataDir, at(path).settings);
  expect(await fixture.refused(restore, at(path))).toContain("exists already");
});

test("an archive is not written to a terminal", async () => {
  const cli = makeTestCli({ stdoutIsTerminal: true });
  expect(await cli.run(["backup", "--to", "-"])).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "Standard output is a terminal: redirect it to a file or a pipe.\n",
  });
});

test("a backup of a newer schema is refused with the version that can restore it", async () => {
  const fixture = await backedUp();
  const newer = join(fixture.backupDir, "newer");
  cpSync(fixture.cli.dataDir, newer, { recursive: true });
  const db = new Database(databaseFile(newer));
  db.pragma("user_version = 999");
  db.close();
  const said = await fixture.refused(["backup", "--to", join(fixture.backupDir, "c")], { dataDir: newer });
  expect(said).toContain("a newer version of Sealpush");
});

test("without a database, or with one on a database server, no backup is made and the message says what to do", async () => {
  const fixture = makeBackupFixture();
  expect(await fixture.refused(["backup", "--to", join(fixture.backupDir, "b")])).toContain("There is no database");
  const settings = { ...keySettings, DATABASE_URL: "postgres://sealpush:x@127.0.0.1:1/sealpush" };
  for (const argv of [
    ["backup", "--to", join(fixture.backupDir, "b")],
    ["restore", "--from", fixture.backupDir, "--end-all"],
  ]) {
    expect(await fixture.refused(argv, { settings })).toContain("pg_dump");
  }
  expect(readdirSync(fixture.backupDir)).toEqual([]);
});
