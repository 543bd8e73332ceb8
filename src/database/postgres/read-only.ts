import type { PostgresSettings } from "../../config/config.ts";
import type { ReadOnlyDatabase } from "../database.ts";
import type { SchemaVersion } from "../schema/both-engines.ts";
import { assertNotForeign, findVersion } from "./migrate.ts";
import { ConnectionPool } from "./pool.ts";
import { describeStartFailure } from "./server-start.ts";
import { PostgresStatements } from "./statements.ts";

export async function openReadOnlyPostgres(
  settings: PostgresSettings,
  versions: readonly SchemaVersion[],
): Promise<ReadOnlyDatabase | "missing" | "older"> {
  const pool = new ConnectionPool(settings, () => undefined);
  let isOpen = false;
  try {
    const version = await withStatements(pool, async (_statements, client) => {
      const found = await findVersion(client, versions.length);
      if (found !== versions.length) await assertNotForeign(client);
      return found;
    });
    if (version === undefined || version === 0) return "missing";
    if (version < versions.length) return "older";
    isOpen = true;
    return {
      read: {
        one: (statement, ...parameters) =>
          withStatements(pool, (statements) => statements.one(statement, ...parameters)),
        all: (statement, ...parameters) =>
          withStatements(pool, (statements) => statements.all(statement, ...parameters)),
      },
      close: () => pool.close(),
    };
  } catch (error) {
    throw describeStartFailure(error, settings);
  } finally {
    if (!isOpen) await pool.close();
  }
}

type Client = Awaited<ReturnType<ConnectionPool["connect"]>>;

/** Runs each statement on any connection, outside a transaction. */
async function withStatements<T>(
  pool: ConnectionPool,
  work: (statements: PostgresStatements, client: Client) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    const done = await work(new PostgresStatements(client, false), client);
    broken = false;
    return done;
  } finally {
    client.release(broken);
  }
}
