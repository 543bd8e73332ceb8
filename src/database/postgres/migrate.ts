import { setTimeout as sleep } from "node:timers/promises";
import { ForeignDatabaseError, foreignTable, NewerSchemaError } from "../database.ts";
import type { SchemaVersion } from "../schema/both-engines.ts";
import { isUniqueViolation, sqlState } from "./errors.ts";
import type { ConnectionPool } from "./pool.ts";
import type { PooledClient } from "./pooled-client.ts";

const oldestServer = 130_000;
const triesMax = 100;
const retryMs = 50;

/**
 * Brings the schema up to date once, even if many processes start together: the one that locks the version's row migrates
 * in one transaction, and the others find it done.
 * @param versions all versions from the first on.
 * @throws NewerSchemaError, ForeignDatabaseError, or an Error with a sentence for the operator.
 */
export async function migrate(
  pool: Pick<ConnectionPool, "connect">,
  versions: readonly Pick<SchemaVersion, "postgres">[],
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const client = await pool.connect();
    let broken = true;
    try {
      await assertServerVersion(client);
      await migrateOn(client, versions);
      broken = false;
      return;
    } catch (error) {
      // Processes that create the table at the same time conflict. Lock timeouts are short, because a waiting migration
      // blocks all later statements on the table.
      const isConflict =
        isUniqueViolation(error) || ["42P07", "42710", "40001", "40P01", "55P03"].includes(sqlState(error));
      if (!isConflict || tries >= triesMax) throw error;
    } finally {
      client.release(broken);
    }
    await sleep(retryMs);
  }
}

async function assertServerVersion(client: PooledClient): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>("SHOW server_version_num");
  const version = Number(rows[0]?.server_version_num);
  if (version < oldestServer) {
    throw new Error(`The PostgreSQL server is version ${Math.floor(version / 10_000)}; 13 or newer is needed.`);
  }
}

async function migrateOn(client: PooledClient, versions: readonly Pick<SchemaVersion, "postgres">[]): Promise<void> {
  // Check without writing first, so that a start beside running servers waits for no lock.
  if ((await findVersion(client, versions.length)) === versions.length) return;
  await assertNotForeign(client);
  await client.query("CREATE TABLE IF NOT EXISTS schema_version (id BIGINT PRIMARY KEY, version BIGINT NOT NULL)");
  await client.query("INSERT INTO schema_version (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING");
  await client.query("BEGIN");
  try {
    await client.query("SET LOCAL lock_timeout = '2s'");
    const { rows } = await client.query<{ version: string }>(
      "SELECT version FROM schema_version WHERE id = 1 FOR UPDATE",
    );
    const version = assertKnown(Number(rows[0]?.version ?? 0), versions.length);
    for (const { postgres } of versions.slice(version)) await client.query(postgres);
    await client.query("UPDATE schema_version SET version = $1 WHERE id = 1", [versions.length]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/** A Password Pusher's env file names its own database, which must not be written to. @throws ForeignDatabaseError. */
export async function assertNotForeign(client: PooledClient): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>(
    `SELECT to_regclass(quote_ident(current_schema()) || '.${foreignTable}')::text AS found`,
  );
  if ((rows[0]?.found ?? null) !== null) throw new ForeignDatabaseError();
}

/** @returns undefined: a new database. @throws NewerSchemaError */
export async function findVersion(client: PooledClient, newest: number): Promise<number | undefined> {
  const { rows } = await client.query<{ found: string | null }>("SELECT to_regclass('schema_version')::text AS found");
  if ((rows[0]?.found ?? null) === null) return undefined;
  const versions = await client.query<{ version: string }>("SELECT version FROM schema_version WHERE id = 1");
  return versions.rows[0] === undefined ? undefined : assertKnown(Number(versions.rows[0].version), newest);
}

function assertKnown(version: number, newest: number): number {
  if (version <= newest) return version;
  throw new NewerSchemaError(version, newest);
}
