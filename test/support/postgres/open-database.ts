import { onTestFinished } from "vitest";
import type { Database } from "../../../src/db/database.ts";
import { openPostgres } from "../../../src/db/postgres/postgres.ts";
import { makePostgresDatabase } from "./database.ts";

export interface TestConnections {
  readonly db: Database;
  readonly url: string;
  /** Before the test ends: the database answers no more. */
  close(): Promise<void>;
}

/** One process's connections to a database of the tests, closed with the test. @param url not given: of a new one. */
export async function openTestDatabase(url?: string): Promise<TestConnections> {
  const address = url ?? (await makePostgresDatabase()).url;
  const { hostname, port, username, password, pathname } = new URL(address);
  let closed: Promise<void> | undefined;
  const db = await openPostgres({
    settings: {
      ...{ host: hostname, port: Number(port), user: username, password, database: pathname.slice(1) },
      tls: { mode: "disable", rootCertificateFile: undefined },
      ...{ poolMax: 8, waitingMax: 1_000, connectTimeoutMs: 10_000, statementTimeoutMs: 30_000, lockTimeoutMs: 10_000 },
      preparedStatements: true,
    },
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
