import type { PostgresSettings } from "../src/config/config.ts";
import { loadConfig } from "../src/config/load-config.ts";

/** What the product makes of this address. */
export function postgresSettings(url: string, connections: number): PostgresSettings {
  const environment = { DATABASE_URL: url, PWP__DATABASE__POOL_SIZE: String(connections) };
  const settings = loadConfig(environment, () => {
    throw new Error("A benchmark reads no key files.");
  });
  if (!settings.ok) throw new Error(settings.mistakes.join("\n"));
  const { database } = settings.config;
  if (database.engine !== "postgres") throw new Error(`${url} is no address of a PostgreSQL server.`);
  return database;
}
