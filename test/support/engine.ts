/** The engine of this test run, set by each project of `vitest.config.ts`. */
export const engine: "sqlite" | "postgres" = process.env.SEALPUSH_TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

// Imported only if needed, because processes that tests start import this file too.
const postgres = engine === "postgres" ? await import("./postgres/database.ts") : undefined;

const urls = new Map<string, Promise<string>>();

/** The machine of tests may stop for longer than a request waits by default: then a 503 would be right, and the test red. */
const patience = { PWP__DATABASE__CONNECT_TIMEOUT: "60", PWP__DATABASE__STATEMENT_TIMEOUT: "60" };

/**
 * The settings that a data folder needs: on PostgreSQL its own database, the same whenever the folder is opened again,
 * and time; none if the test names a database.
 */
export async function settingsOfEngine(
  dataDir: string | undefined,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<Readonly<Record<string, string>>> {
  if (postgres === undefined || dataDir === undefined || given.DATABASE_URL !== undefined) return {};
  const url = urls.get(dataDir) ?? postgres.makePostgresDatabase().then((made) => made.url);
  urls.set(dataDir, url);
  return { ...patience, DATABASE_URL: await url };
}
