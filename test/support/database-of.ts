import type { Database } from "../../src/database/database.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { testConfig } from "./domain.ts";
import { settingsOfEngine } from "./engine.ts";

/** Opens the database of a data folder directly, without the program. */
export async function withDatabaseOf<T>(dataDir: string, work: (db: Database) => Promise<T>): Promise<T> {
  const { database } = testConfig(dataDir, await settingsOfEngine(dataDir));
  const failed = (what: unknown) => {
    throw new Error(`The database of ${dataDir} failed: ${what}`);
  };
  const db = await openDatabase(database, {
    monotonicMs: () => performance.now(),
    onStorageFailure: failed,
    onTruncationFailed: failed,
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
