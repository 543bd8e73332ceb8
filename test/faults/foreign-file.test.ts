import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { importOf } from "../support/password-pusher/import-run.ts";
import { installDefaultKey, installProduction } from "../support/password-pusher/installations.ts";
import { newDataDir, runProgram } from "../support/processes.ts";
import { filesIn } from "../support/raw-files.ts";

const sentence =
  /The database that DATABASE_URL names holds the tables of another program: give this server its own database/;
const noKey = {};
const withKey = { PWPUSH_MASTER_KEY: "11".repeat(32) };

const commands = [
  ["doctor"],
  ["user", "list"],
  ["user", "create", "--email", "ada@example.com", "--password-stdin"],
  ["keys", "rotate"],
];

test.each([
  ["of its own", noKey],
  ["of its own, with a key given", withKey],
  ["in which that database lies", noKey],
  ["in which that database lies, with a key given", withKey],
])(
  "a Password Pusher database in a data folder %s is refused without creating or requiring a key, and nothing is written",
  async (where, keys) => {
    const { databasePath } = installDefaultKey();
    const [own, beside] = [newDataDir(), dirname(databasePath)];
    const dataDir = where.startsWith("of its own") ? own : beside;
    const before = filesIn(beside);
    const environment = { PORT: "0", DATA_DIR: dataDir, DATABASE_URL: `sqlite3:${databasePath}`, ...keys };
    for (const command of [...commands, ["backup", "--to", join(dirname(own), "backup")]]) {
      const run = await runProgram(command, environment, "correct horse battery");
      expect(run.exitCode, `${command.join(" ")}: ${run.stdout}`).toBe(1);
      expect(run.stdout + run.stderr, command.join(" ")).toMatch(sentence);
      expect(run.stdout + run.stderr).not.toContain("master.key");
      expect(filesIn(beside), command.join(" ")).toEqual(before);
    }
    const start = await runProgram(["serve"], environment);
    expect(start.exitCode).toBe(2);
    expect(start.stderr).toMatch(/found the data of a Password Pusher(?:.|\n)*users(?:.|\n)*SEALPUSH_MOVE_IN=yes/);
    expect(filesIn(beside)).toEqual(before);
    mkdirSync(own, { recursive: true });
    expect([...filesIn(own).keys()]).toEqual([]);
  },
);

test("an import into a copy of the source's database is refused in the same way", async () => {
  const installation = installProduction();
  const copy = join(installation.folder, "copy.sqlite3");
  copyFileSync(installation.databasePath, copy);
  const dataDir = newDataDir();
  for (const options of [["--dry-run"], []]) {
    const argv = importOf(installation, ...options);
    const before = filesIn(installation.folder);
    const run = await runProgram(argv, { DATA_DIR: dataDir, DATABASE_URL: `sqlite3:${copy}` });
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(sentence);
    expect(run.stderr).not.toContain("master.key");
    expect(filesIn(installation.folder)).toEqual(before);
  }
  mkdirSync(dataDir, { recursive: true });
  expect([...filesIn(dataDir).keys()]).toEqual([]);
});
