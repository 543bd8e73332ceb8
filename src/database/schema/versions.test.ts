import { join } from "node:path";
import { expect, test } from "vitest";
import { engine, settingsOfEngine } from "../../../test/support/engine.ts";
import { readRows, tablesOf } from "../../../test/support/engine-database.ts";
import { makeFolder } from "../../../test/support/folders.ts";
import type { DatabaseSettings } from "../../config/config.ts";
import { type Database, NewerSchemaError } from "../database.ts";
import { openDatabase, openReadOnly } from "../open-database.ts";
import { sql } from "../statement.ts";
import { forBothEngines, type SchemaVersion } from "./both-engines.ts";
import { schemaVersions } from "./versions.ts";

const empty = forBothEngines(() => "");
const withEmpty = [...schemaVersions, empty];
const withColumn = [...withEmpty, forBothEngines(() => "ALTER TABLE users ADD COLUMN invented TEXT")];

/** The settings of one database, without the schema of this program on SQLite and with it on PostgreSQL. */
async function makeSettings(): Promise<DatabaseSettings> {
  const folder = makeFolder();
  if (engine === "sqlite") return { engine, path: join(folder, "test.sqlite3") };
  const { postgresSettings } = await import("../../../test/support/postgres/settings.ts");
  return { engine, ...postgresSettings((await settingsOfEngine(folder)).DATABASE_URL ?? "") };
}

async function open(settings: DatabaseSettings, versions: readonly SchemaVersion[]): Promise<Database> {
  return await openDatabase(settings, {
    monotonicMs: () => performance.now(),
    onStorageFailure: () => undefined,
    onTruncationFailed: () => undefined,
    versions,
  });
}

async function using<T>(opening: Promise<Database>, work: (db: Database) => Promise<T>): Promise<T> {
  const db = await opening;
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

async function versionOf(db: Database): Promise<number> {
  const [row] = await readRows<{ version: number }>(db, {
    sqlite: "SELECT user_version AS version FROM pragma_user_version()",
    postgres: "SELECT version FROM schema_version",
  });
  return Number(row?.version);
}

const writeMark = sql<[value: Buffer]>("INSERT INTO meta (name, value) VALUES ('mark', ?)");
const readMarks = "SELECT value FROM meta WHERE name = 'mark'";

test("a database of an older version is brought up to date and keeps its rows", async () => {
  const settings = await makeSettings();
  const tables = await using(open(settings, schemaVersions), async (db) => {
    expect(await versionOf(db)).toBe(schemaVersions.length);
    await db.write((tx) => tx.run(writeMark, Buffer.from("kept")));
    return await tablesOf(db);
  });
  for (const versions of [withEmpty, withEmpty, withColumn]) {
    await using(open(settings, versions), async (db) => {
      expect(await versionOf(db)).toBe(versions.length);
      expect(await readRows(db, readMarks)).toEqual([{ value: Buffer.from("kept") }]);
      expect(await tablesOf(db)).toEqual(tables);
    });
  }
  await using(open(settings, withColumn), async (db) => {
    expect(await readRows(db, "SELECT invented FROM users")).toEqual([]);
  });
});

test("a database of a newer version is refused and left unchanged", async () => {
  const settings = await makeSettings();
  await using(open(settings, withEmpty), async () => undefined);
  const refusal = new NewerSchemaError(withEmpty.length, schemaVersions.length);
  expect(new NewerSchemaError(2, 1).message).toBe(
    "The database has schema version 2, this program knows 1: start a newer version.",
  );
  await expect(open(settings, schemaVersions)).rejects.toThrow(refusal);
  await expect(openReadOnly(settings, schemaVersions)).rejects.toThrow(refusal);
  await using(open(settings, withEmpty), async (db) => expect(await versionOf(db)).toBe(withEmpty.length));
});

test("a database of an older version is not opened read-only", async () => {
  const settings = await makeSettings();
  await using(open(settings, schemaVersions), async () => undefined);
  expect(await openReadOnly(settings, withEmpty)).toBe("older");
  await using(open(settings, schemaVersions), async (db) => expect(await versionOf(db)).toBe(schemaVersions.length));
});
