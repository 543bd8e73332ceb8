import { copyFileSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDriver, { type Database as Connection } from "better-sqlite3";
import pg from "pg";
import { makeFolder } from "../folders.ts";
import { makeEmptyPostgresDatabase } from "../postgres/database.ts";
import { fixtureFolder } from "./expected.ts";
import type { Mariadb } from "./mariadb.ts";
import { copyToMysql } from "./mysql-tables.ts";

/** A copy of the fixture that a test may change. It is removed after the test. */
export interface Installation {
  /** Values of the options --database and --storage, and the variables of the env file. */
  readonly database: string;
  readonly storage: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly databasePath: string;
  /** The folder of the attached files. */
  readonly storageFolder: string;
}

export const keysOfFixture = {
  PWPUSH_MASTER_KEY: "0be7fa50af215d6633c3f95692e27065c24ac961f55e17f0283b42724466ced6",
  PWPUSH_MASTER_KEY_PREVIOUS:
    "7c4dbab0528cd71d615b008eec345a0f4ab4cdf3ab938303c14622457f590281,ddb709ebbe31472802cfff06db90a7b4e53036bbbf21c26d818ebb6fac20a930",
  SECRET_KEY_BASE:
    "22a8c76d88670446cb3a64d3f1598d70c65cd4d2fb7b47c5214085f468d39569e9eb05b1ed21a09c89b85718b243b48034f780424de5a24d11e80c62a9418231",
} as const;

/** The whole installation. @param change changes its database before the import. @param folder of the test's own. */
export function installProduction(
  change: (connection: Connection) => void = () => undefined,
  folder: string = makeFolder(),
): Installation {
  const storageFolder = join(folder, "storage");
  cpSync(join(fixtureFolder, "storage"), storageFolder, { recursive: true });
  const databasePath = join(storageFolder, "db/production.sqlite3");
  changeDatabase(databasePath, change);
  const database = `sqlite:${databasePath}`;
  return { folder, databasePath, storageFolder, database, storage: [storageFolder], environment: keysOfFixture };
}

/** The small installation, whose operator never set a key. */
export function installDefaultKey(): Installation {
  const folder = makeFolder();
  const databasePath = join(folder, "default-key.sqlite3");
  copyFileSync(join(fixtureFolder, "default-key.sqlite3"), databasePath);
  const { SECRET_KEY_BASE } = keysOfFixture;
  return {
    folder,
    databasePath,
    storageFolder: folder,
    storage: [folder],
    database: `sqlite:${databasePath}`,
    environment: { SECRET_KEY_BASE },
  };
}

/** The whole installation, with its rows in a database of the test run's PostgreSQL. */
export async function installProductionOnPostgres(): Promise<Installation> {
  return await installProductionAt((await makeEmptyPostgresDatabase()).url);
}

/** The same. @param url of an empty PostgreSQL database. */
export async function installProductionAt(url: string): Promise<Installation> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(readFileSync(join(fixtureFolder, "pushes.pg.sql"), "utf8"));
  } finally {
    await client.end();
  }
  return { ...installProduction(), database: url };
}

/** The whole installation, with its rows in tables as Rails creates them on MySQL. */
export async function installProductionOnMysql(server: Mariadb): Promise<Installation> {
  const installation = installProduction();
  const database = await server.makeDatabase();
  await copyToMysql(installation.databasePath, database.writerUrl);
  return { ...installation, database: database.readerUrl };
}

export function changeDatabase(path: string, change: (connection: Connection) => void): void {
  const connection = new SqliteDriver(path);
  try {
    change(connection);
  } finally {
    connection.close();
  }
}
