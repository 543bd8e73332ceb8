import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { makeEmptyPostgresDatabase, makePostgresDatabase } from "../../../test/support/postgres/database.ts";
import { openTestDatabase } from "../../../test/support/postgres/open-database.ts";
import { postgresSettings } from "../../../test/support/postgres/settings.ts";
import { schemaVersions } from "../schema/versions.ts";
import { sql } from "../statement.ts";
import { migrate } from "./migrate.ts";
import { ConnectionPool } from "./pool.ts";

function connect(url: string): ConnectionPool {
  // The database is dropped after the test, before the pool has closed its connections.
  const pool = new ConnectionPool(postgresSettings(url, { lockTimeoutMs: 600_000 }), () => undefined);
  onTestFinished(() => pool.close());
  return pool;
}

/** A transaction of another client that stays open until the test ends it. */
async function beginElsewhere(url: string, ...statements: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  for (const statement of ["BEGIN", ...statements]) await client.query(statement);
  return client;
}

async function columnsOf(pool: ConnectionPool, table: string): Promise<readonly string[]> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1",
      [table],
    );
    return rows.map(({ name }) => name);
  } finally {
    client.release();
  }
}

test("concurrent migrations of an empty database apply each version once", async () => {
  const { url } = await makeEmptyPostgresDatabase();
  const steps = [
    { postgres: "CREATE TABLE runs (version BIGINT); INSERT INTO runs VALUES (1)" },
    { postgres: "INSERT INTO runs VALUES (2)" },
    { postgres: "INSERT INTO runs VALUES (3)" },
  ];
  await Promise.all(Array.from({ length: 10 }, () => migrate(connect(url), steps)));
  const client = await beginElsewhere(url);
  expect((await client.query("SELECT version FROM runs ORDER BY version")).rows).toEqual([
    { version: "1" },
    { version: "2" },
    { version: "3" },
  ]);
});

test("a version that fails halfway leaves nothing, and the next start applies it", async () => {
  const { url } = await makeEmptyPostgresDatabase();
  const pool = connect(url);
  const broken = [{ postgres: "CREATE TABLE half (id BIGINT); SELECT 1 / 0" }];
  await expect(migrate(pool, broken)).rejects.toThrow("division by zero");
  expect(await columnsOf(pool, "half")).toEqual([]);
  await migrate(pool, [{ postgres: "CREATE TABLE half (id BIGINT)" }]);
  expect(await columnsOf(pool, "half")).toEqual(["id"]);
});

test("a start on an up-to-date schema does not wait for any lock", async () => {
  const { url } = await makePostgresDatabase();
  await beginElsewhere(
    url,
    "SELECT * FROM schema_version FOR UPDATE",
    "LOCK TABLE pushes, audit_entries, users, sessions, meta IN ACCESS EXCLUSIVE MODE",
  );
  await migrate(connect(url), schemaVersions);
});

test("a migration that waits for a table does not block requests, and finally succeeds", async () => {
  const { db, url } = await openTestDatabase();
  const holder = await beginElsewhere(url, "SELECT * FROM pushes");
  const pool = connect(url);
  const migrating = migrate(pool, [...schemaVersions, { postgres: "ALTER TABLE pushes ADD COLUMN invented BIGINT" }]);
  const waits = sql<[], { waiting: number }>("SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted");
  await expect.poll(async () => (await db.read.one(waits))?.waiting).toBe(1);
  // It waits behind the migration, whose lock timeout ends long before the other transaction.
  await db.write((tx) => tx.run(sql("UPDATE pushes SET views = views WHERE id = 1")));
  expect(await columnsOf(pool, "pushes")).not.toContain("invented");
  await holder.query("COMMIT");
  await migrating;
  expect(await columnsOf(pool, "pushes")).toContain("invented");
});

test("the database of a Password Pusher is refused at once with a sentence, and no table is created in it", async () => {
  const { url } = await makeEmptyPostgresDatabase();
  const pool = connect(url);
  const other = await beginElsewhere(url);
  await other.query("CREATE TABLE schema_migrations (version TEXT PRIMARY KEY)");
  await other.query("COMMIT");
  await expect(migrate(pool, schemaVersions)).rejects.toThrow(/holds the tables of another program/);
  const tables = await other.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
  expect(tables.rows).toEqual([{ name: "schema_migrations" }]);
});

test.each([
  ["120022", "12"],
  ["90624", "9"],
])("a server whose version is %s is refused", async (number, version) => {
  const { url } = await makeEmptyPostgresDatabase();
  const pool = connect(url);
  const older: Pick<ConnectionPool, "connect"> = {
    async connect() {
      const client = await pool.connect();
      return new Proxy(client, {
        get: (target, name) => {
          if (name === "query") return async () => ({ rows: [{ server_version_num: number }] });
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
  };
  await expect(migrate(older, schemaVersions)).rejects.toThrow(
    `The PostgreSQL server is version ${version}; 13 or newer is needed.`,
  );
});
