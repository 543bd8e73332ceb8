/** The engine of this test run, set by each project of `vitest.config.ts`. */
export const engine: "sqlite" | "postgres" = process.env.SEALPUSH_TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

// Imported only if needed, because processes that tests start import this file too.
const postgres = engine === "postgres" ? await import("./postgres/database.ts") : undefined;

const urls = new Map<string, Promise<string>>();

/**
 * The settings that a data folder needs: on PostgreSQL its own database, the same whenever the folder is opened again;
 * none if the test names a database.
 */
export async function settingsOfEngine(
  dataDir: string | undefined,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<Readonly<Record<string, string>>> {
  if (postgres === undefined || dataDir === undefined || given.DATABASE_URL !== undefined) return {};
  const url = urls.get(dataDir) ?? postgres.makePostgresDatabase().then((made) => made.url);
  urls.set(dataDir, url);
  return { DATABASE_URL: await url };
}
