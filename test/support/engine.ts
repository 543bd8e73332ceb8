/** Which engine this run of the tests is about: each project of `vitest.config.ts` sets one. */
export const engine: "sqlite" | "postgres" = process.env.SEALPUSH_TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

// Only where it is needed, for some processes that the tests start read this too and are no test run; and before any test
// runs, for it gives the databases back after a file's last one.
const postgres = engine === "postgres" ? await import("./postgres/database.ts") : undefined;

const urls = new Map<string, Promise<string>>();

/**
 * The settings that a data folder needs beside itself: on PostgreSQL a database of its own, the same whenever the folder
 * is opened again; none where the test names one.
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
