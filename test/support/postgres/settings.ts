import type { PostgresSettings } from "../../../src/config/config.ts";
import { databaseUrl } from "../../../src/config/database-url.ts";

/** Settings for test databases, with timeouts that a healthy but busy machine does not reach. */
export function postgresSettings(url: string, wish: Partial<PostgresSettings> = {}): PostgresSettings {
  const parsed = databaseUrl.parse(url);
  if (!parsed.ok || parsed.value.engine !== "postgres")
    throw new Error("This is not the address of a PostgreSQL server.");
  return {
    ...parsed.value,
    setting: "DATABASE_URL",
    poolMax: 8,
    waitingMax: 1_000,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 30_000,
    answerMsMax: (wish.statementTimeoutMs ?? 30_000) + 3_000,
    lockTimeoutMs: 10_000,
    preparedStatements: true,
    ...wish,
  };
}
