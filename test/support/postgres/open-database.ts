import { onTestFinished } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { openPostgres } from "../../../src/database/postgres/postgres.ts";
import { makePostgresDatabase } from "./database.ts";
import { postgresSettings } from "./settings.ts";

export interface TestConnections {
  readonly db: Database;
  readonly url: string;
  /** Before the test ends: the database answers no more. */
  close(): Promise<void>;
}

/** One process's connections to a database of the tests, closed with the test. @param url not given: of a new one. */
export async function openTestDatabase(url?: string): Promise<TestConnections> {
  const address = url ?? (await makePostgresDatabase()).url;
  let closed: Promise<void> | undefined;
  const db = await openPostgres({
    settings: postgresSettings(address),
    monotonicMs: () => performance.now(),
    onStorageFailure(code) {
      // The database goes with the test, before the last of its connections has heard of it.
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
