import { onTestFinished } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { openPostgres } from "../../../src/database/postgres/postgres.ts";
import { makePostgresDatabase } from "./database.ts";
import { postgresSettings } from "./settings.ts";

export interface TestConnections {
  readonly db: Database;
  readonly url: string;
  /** Closes it before the test ends. */
  close(): Promise<void>;
}

/** The connections of one process to a test database, closed after the test. @param url default: of a new database. */
export async function openTestDatabase(url?: string): Promise<TestConnections> {
  const address = url ?? (await makePostgresDatabase()).url;
  let closed: Promise<void> | undefined;
  const db = await openPostgres({
    settings: postgresSettings(address),
    monotonicMs: () => performance.now(),
    onStorageFailure(code) {
      // The database is removed after the test, before its last connections have noticed.
      if (closed === undefined) throw new Error(`The database of a test failed: ${code}`);
    },
  });
  const close = () => {
    closed ??= db.close();
    return closed;
  };
  onTestFinished(close);
  return { db, url: address, close };
}
