import pg from "pg";
import { onTestFinished } from "vitest";
import type { PostgresSettings } from "../../../src/config/config.ts";
import type { Database } from "../../../src/database/database.ts";
import { openPostgres } from "../../../src/database/postgres/postgres.ts";
import { sql } from "../../../src/database/statement.ts";
import { TcpProxy } from "../tcp-proxy.ts";
import { makePostgresDatabase } from "./database.ts";
import { postgresSettings } from "./settings.ts";

interface Fixture {
  readonly db: Database;
  readonly url: string;
  /** Error codes of storage failures, in order. */
  readonly failures: readonly string[];
  /** The network between the database object and the server. */
  readonly proxy: TcpProxy;
}

/** A database behind a proxy. Both are closed when the test finishes. */
export async function openBehindProxy(wish: Partial<PostgresSettings> = {}): Promise<Fixture> {
  const { url } = await makePostgresDatabase();
  const proxy = await TcpProxy.inFrontOf({ port: Number(new URL(url).port) });
  const failures: string[] = [];
  const db = await openPostgres({
    settings: postgresSettings(proxy.url(url), wish),
    monotonicMs: () => performance.now(),
    onStorageFailure: (code) => failures.push(code),
  });
  onTestFinished(async () => {
    await db.close();
    await proxy[Symbol.asyncDispose]();
  });
  return { db, url, failures, proxy };
}

/** A direct connection to the same database, without the proxy. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export const put = sql<[id: number, at: number]>("INSERT INTO deleted_users (user_id, deleted_at) VALUES (?, ?)");
export const raise = sql<[by: number, id: number]>(
  "UPDATE deleted_users SET deleted_at = deleted_at + ? WHERE user_id = ?",
);
export const find = sql<[id: number], { at: number }>("SELECT deleted_at AS at FROM deleted_users WHERE user_id = ?");
export const count = sql<[], { rows: number }>("SELECT count(*) AS rows FROM deleted_users");
export const wait = sql<[seconds: number], never>("SELECT pg_sleep(?)");
export const ownBackend = sql<[], { backend: number }>("SELECT pg_backend_pid() AS backend");
export const refusedForNow = { code: "unavailable", retryAfterSeconds: 2 };
