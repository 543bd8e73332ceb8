import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import SqliteDriver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/support/folders.ts";
import { schemaVersions } from "../schema/versions.ts";
import { isOfAnotherProgram } from "./foreign-file.ts";
import { migrate } from "./migrate.ts";

/** Copies the files in the state in which a killed process leaves them. */
function copyOpenFiles(path: string): string {
  const copy = join(makeFolder(), "copy.sqlite3");
  for (const ending of ["", "-wal"]) if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending);
  return copy;
}

/** @param tables the number of tables; with many, the schema table needs several pages. */
function makeForeign(
  journalMode: "WAL" | "DELETE",
  tables: number,
): { path: string; connection: SqliteDriver.Database } {
  const path = join(makeFolder(), "production.sqlite3");
  const connection = new SqliteDriver(path);
  onTestFinished(() => {
    connection.close();
  });
  connection.pragma(`journal_mode = ${journalMode}`);
  for (let number = 0; number < tables; number += 1) {
    connection.exec(`CREATE TABLE table_${number} (id INTEGER PRIMARY KEY, content TEXT NOT NULL DEFAULT 'nothing')`);
  }
  return { path, connection };
}

/** Checks that the call changes no file. */
function ask(path: string): boolean {
  const folder = dirname(path);
  const state = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]);
  const before = state();
  const answer = isOfAnotherProgram(path);
  expect(state()).toEqual(before);
  return answer;
}

test.each([1, 100])(
  "another program's database of %d tables is recognised, however much of it is still in the log",
  (tables) => {
    expect(ask(copyOpenFiles(makeForeign("DELETE", tables).path))).toBe(true);
    const { path, connection } = makeForeign("WAL", tables);
    const inLog = copyOpenFiles(path);
    expect(statSync(`${inLog}-wal`).size).toBeGreaterThan(0);
    expect(ask(inLog)).toBe(true);
    connection.pragma("wal_checkpoint(TRUNCATE)");
    connection.exec("INSERT INTO table_0 DEFAULT VALUES");
    expect(ask(copyOpenFiles(path))).toBe(true);
    connection.close();
    expect(readdirSync(dirname(path))).toEqual(["production.sqlite3"]);
    expect(ask(path)).toBe(true);
  },
);

test("this program's database is recognised from its first transaction on, even if all of it is still in the log", () => {
  const path = join(makeFolder(), "test.sqlite3");
  const connection = new SqliteDriver(path);
  onTestFinished(() => {
    connection.close();
  });
  connection.pragma("journal_mode = WAL");
  migrate(connection, schemaVersions);
  const young = copyOpenFiles(path);
  expect(readFileSync(young).readUInt32BE(60)).toBe(0);
  expect(ask(young)).toBe(false);
  connection.pragma("wal_checkpoint(TRUNCATE)");
  const folded = copyOpenFiles(path);
  expect(readFileSync(folded).readUInt32BE(60)).toBeGreaterThan(0);
  expect(ask(folded)).toBe(false);
});

test("uncommitted transactions and remains of an earlier log are ignored", () => {
  const { path, connection } = makeForeign("WAL", 1);
  const cut = copyOpenFiles(path);
  truncateSync(`${cut}-wal`, 32 + 24 + 4_096 - 1);
  expect(ask(cut)).toBe(false);
  connection.pragma("wal_checkpoint(RESTART)");
  connection.exec("BEGIN; DROP TABLE table_0; PRAGMA user_version = 7; COMMIT");
  expect(ask(copyOpenFiles(path))).toBe(false);
});

test("a file that is not a database, or is empty, is left to SQLite to report", () => {
  const path = join(makeFolder(), "file");
  expect(ask(path)).toBe(false);
  for (const content of ["", "SQLite format 3\0", "A diary. ".repeat(100)]) {
    writeFileSync(path, content);
    expect(ask(path)).toBe(false);
  }
  expect(isOfAnotherProgram(dirname(path))).toBe(false);
});
