import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { boundByPermissions } from "../../../test/support/limits.ts";
import { referenceTime } from "../../../test/support/password-pusher/expected.ts";
import { changeDatabase, installProduction } from "../../../test/support/password-pusher/installations.ts";
import { collect, openSource, readingOptions } from "../../../test/support/password-pusher/open-source.ts";

/** Changes all names in each transaction, as long as it lives. */
const busyServer = `
  import SqliteDriver from "better-sqlite3";
  const db = new SqliteDriver(process.env.DATABASE);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = OFF");
  const rename = db.prepare("UPDATE pushes SET name = ?");
  for (let write = 1; ; write += 1) {
    rename.run("write " + write);
    if (write === 3) process.stdout.write("ready");
  }`;
const copyOnce = `
  const { openPrivateCopy } = await import("../../../src/database/sqlite/private-copy.ts");
  (await openPrivateCopy(JSON.parse(process.env.LOCATION))).close();`;
/** Waits for its input between the creation of the lock and the lock. */
const copyThatLocksLate = `
  import fs from "node:fs";
  import SqliteDriver from "better-sqlite3";
  const { exec } = SqliteDriver.prototype;
  SqliteDriver.prototype.exec = function (statement) {
    SqliteDriver.prototype.exec = exec;
    fs.writeSync(1, "made");
    fs.readSync(0, Buffer.alloc(1));
    return exec.call(this, statement);
  };
  const { openPrivateCopy } = await import("../../../src/database/sqlite/private-copy.ts");
  (await openPrivateCopy(JSON.parse(process.env.LOCATION))).close();`;
/** Blocks with the copy made, before it is unlinked. */
const copyThatWaits = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  import { join } from "node:path";
  const { rmSync } = fs;
  fs.rmSync = (path, options) => {
    if (!fs.existsSync(join(path, "source.sqlite3"))) return rmSync(path, options);
    fs.writeSync(1, "copied");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  syncBuiltinESMExports();
  const { openPrivateCopy } = await import("../../../src/database/sqlite/private-copy.ts");
  await openPrivateCopy(JSON.parse(process.env.LOCATION));`;

const hourMs = 3_600_000;
/** A push of the fixture. */
const textPush = 11;

describe("a SQLite database", () => {
  it("is read with the rows that are only in its log", async () => {
    const installation = installProduction();
    const server = new SqliteDriver(installation.databasePath);
    onTestFinished(() => void server.close());
    server.pragma("wal_autocheckpoint = 0");
    server.prepare("UPDATE pushes SET name = 'only in the log' WHERE id = ?").run(textPush);

    expect(readFileSync(installation.databasePath).includes("only in the log")).toBe(false);
    const source = await openSource(installation);
    const [row] = await collect(source.pushes(textPush - 1));
    expect(row).toMatchObject({ id: textPush, row: { name: "only in the log" } });
  });

  it("stays unchanged, like its folder, and no copy remains", async () => {
    const installation = installProduction();
    const folder = dirname(installation.databasePath);
    const state = () => [
      readdirSync(folder),
      readFileSync(installation.databasePath),
      statSync(installation.databasePath).mtimeMs,
    ];
    const before = state();
    const source = await openSource(installation);

    expect(readdirSync(readingOptions(installation).scratchFolder)).toEqual([]);
    await collect(source.pushes(0));
    await source.close();
    expect(state()).toEqual(before);
  });

  it("is read in one consistent state while a server writes to it", async () => {
    const installation = installProduction();
    const writer = spawn(process.execPath, ["--input-type=module", "--eval", busyServer], {
      cwd: import.meta.dirname,
      env: { ...process.env, DATABASE: installation.databasePath },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void writer.kill("SIGKILL"));
    await once(writer.stdout, "data");
    const source = await openSource(installation);
    const names = [];
    for await (const row of source.pushes()) names.push(row.outcome === "read" ? row.row.name : null);

    expect(new Set(names.filter((name) => name?.startsWith("write "))).size).toBe(1);
    expect(writer.exitCode).toBeNull();
  });

  it("is removed from the scratch folder after a SIGKILL, and not while another process copies", async () => {
    const installation = installProduction();
    const reading = readingOptions(installation);
    const copying = spawn(process.execPath, ["--input-type=module", "--eval", copyThatWaits], {
      cwd: import.meta.dirname,
      env: { ...process.env, LOCATION: JSON.stringify({ ...reading, path: installation.databasePath }) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void copying.kill("SIGKILL"));
    await once(copying.stdout, "data");
    const [folder = ""] = readdirSync(reading.scratchFolder);
    await openSource(installation);
    expect(readdirSync(join(reading.scratchFolder, folder))).toContain("source.sqlite3");

    const exited = once(copying, "exit");
    copying.kill("SIGKILL");
    await exited;
    expect(readdirSync(join(reading.scratchFolder, folder))).toContain("source.sqlite3");
    await openSource(installation);
    expect(readdirSync(reading.scratchFolder)).toEqual([]);
  });

  it("is copied into another folder if a run removes the first one before it is locked", async () => {
    const installation = installProduction();
    const reading = readingOptions(installation);
    const copying = spawn(process.execPath, ["--input-type=module", "--eval", copyThatLocksLate], {
      cwd: import.meta.dirname,
      env: { ...process.env, LOCATION: JSON.stringify({ ...reading, path: installation.databasePath }) },
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void copying.kill("SIGKILL"));
    await once(copying.stdout, "data");
    expect(readdirSync(reading.scratchFolder)).toHaveLength(1);
    await openSource(installation);
    expect(readdirSync(reading.scratchFolder)).toEqual([]);

    const exited = once(copying, "exit");
    copying.stdin.write("!");
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(reading.scratchFolder)).toEqual([]);
  });

  it("keeps a folder without a lock for a day at most", async () => {
    const installation = installProduction();
    const { scratchFolder } = readingOptions(installation);
    const made = {
      old: join(scratchFolder, ".sealpush-import-old"),
      recent: join(scratchFolder, ".sealpush-import-recent"),
    };
    for (const path of Object.values(made)) mkdirSync(path, { recursive: true });
    const [dayBefore, hourBefore] = [24.1, 1].map((hours) => new Date(referenceTime - hours * hourMs));
    utimesSync(made.old, dayBefore ?? 0, dayBefore ?? 0);
    utimesSync(made.recent, hourBefore ?? 0, hourBefore ?? 0);
    await openSource(installation);

    expect(readdirSync(scratchFolder)).toEqual([".sealpush-import-recent"]);
  });

  it("is copied although the scratch folder has folders of other users, and links", async () => {
    const installation = installProduction();
    const reading = readingOptions(installation);
    const foreign = join(reading.scratchFolder, ".sealpush-import-foreign");
    const target = join(installation.folder, "elsewhere");
    for (const path of [foreign, target]) mkdirSync(path, { recursive: true });
    for (const path of [foreign, target]) writeFileSync(join(path, "lock.sqlite3"), "");
    symlinkSync(target, join(reading.scratchFolder, ".sealpush-import-link"));
    chmodSync(foreign, 0);
    onTestFinished(() => chmodSync(foreign, 0o700));
    const [command = "", ...args] = [
      ...boundByPermissions,
      process.execPath,
      "--input-type=module",
      "--eval",
      copyOnce,
    ];
    const copying = spawn(command, args, {
      cwd: import.meta.dirname,
      env: { ...process.env, LOCATION: JSON.stringify({ ...reading, path: installation.databasePath }) },
      stdio: ["ignore", "inherit", "inherit"],
    });
    expect(await once(copying, "exit")).toEqual([0, null]);
    expect(readdirSync(reading.scratchFolder)).toEqual([".sealpush-import-foreign", ".sealpush-import-link"]);
    expect(readdirSync(target)).toEqual(["lock.sqlite3"]);
  });

  it("may be in a read-only folder", async () => {
    const installation = installProduction();
    chmodSync(installation.databasePath, 0o400);
    chmodSync(dirname(installation.databasePath), 0o500);
    onTestFinished(() => chmodSync(dirname(installation.databasePath), 0o700));

    expect(await collect((await openSource(installation)).users(0))).toHaveLength(4);
  });

  it("is refused in one sentence if it is missing, another file, of another application, or too old", async () => {
    const installation = installProduction();
    const { folder } = installation;
    const other = join(folder, "other.sqlite3");
    changeDatabase(other, (db) => db.exec("CREATE TABLE pushes (id INTEGER)"));
    writeFileSync(join(folder, "text.sqlite3"), "This is not a database, but long enough to be one. ".repeat(20));
    const blank = join(folder, "blank.sqlite3");
    changeDatabase(blank, () => undefined);
    const oldest = installProduction((db) =>
      db.exec("ALTER TABLE pushes RENAME TO passwords; DELETE FROM schema_migrations WHERE version > '20250101'"),
    );
    const old = installProduction((db) => db.exec("DELETE FROM schema_migrations WHERE version > '20250101'"));

    await expect(openSource(installation, { database: `sqlite:${folder}/missing.sqlite3` })).rejects.toThrow(
      "missing.sqlite3 is not a file: --database must name the SQLite database.",
    );
    await expect(openSource(installation, { database: `sqlite:${folder}/text.sqlite3` })).rejects.toThrow(
      "text.sqlite3 cannot be opened as a SQLite database (SQLITE_NOTADB).",
    );
    await expect(openSource(installation, { database: `sqlite:${other}` })).rejects.toThrow(
      "--database does not name a database of Password Pusher 2.x: there is no table schema_migrations with a version.",
    );
    await expect(openSource(installation, { database: `sqlite:${blank}` })).rejects.toThrow(
      "--database does not name a database of Password Pusher 2.x: there is no table schema_migrations with a version.",
    );
    await expect(openSource(oldest)).rejects.toThrow(/too old \(1\.x\): upgrade it to the newest 2\.x/);
    await expect(openSource(old)).rejects.toThrow(/too old .*upgrade it to the newest 2\.x/);
  });

  it.each([
    ["ALTER TABLE pushes DROP COLUMN passphrase_ciphertext", "the table pushes has no column passphrase_ciphertext"],
    ["ALTER TABLE users DROP COLUMN otp_required_for_login", "the table users has no column otp_required_for_login"],
    ["DROP TABLE active_storage_attachments", "there is no table active_storage_attachments"],
    ["DROP TABLE notify_by_emails", "there is no table notify_by_emails"],
  ])("is refused without a part of its version: %s", async (change, what) => {
    const installation = installProduction((db) => db.exec(change));

    await expect(openSource(installation)).rejects.toThrow(
      `--database names an incomplete copy of Password Pusher's database: ${what}.`,
    );
  });
});
