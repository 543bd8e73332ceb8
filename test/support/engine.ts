/** Which engine this run of the tests is about: each project of `vitest.config.ts` sets one. */
export const engine: "sqlite" | "postgres" = process.env.SEALPUSH_TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

const urls = new Map<string, Promise<string>>();

/**
 * The settings that a data folder needs beside itself: on PostgreSQL a database of its own, the same whenever the folder
 * is opened again; none where the test names one.
 */
export async function settingsOfEngine(
  dataDir: string | undefined,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<Readonly<Record<string, string>>> {
  if (engine === "sqlite" || dataDir === undefined || given.DATABASE_URL !== undefined) return {};
  const url = urls.get(dataDir) ?? makeDatabase();
  urls.set(dataDir, url);
  return { DATABASE_URL: await url };
}

async function makeDatabase(): Promise<string> {
  // Loaded here: some processes that the tests start read their settings too, and are no test run.
  const { makePostgresDatabase } = await import("./postgres/database.ts");
  return (await makePostgresDatabase()).url;
}
