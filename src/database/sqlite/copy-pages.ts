import { closeSync, openSync } from "node:fs";
import { SqliteDriver } from "./driver.ts";

const lockWaitMs = 15_000;
/** More pages than a database can have. */
const pagesMax = 2 ** 31 - 1;

/**
 * Copies a database, while servers write to it, into a new file that only its user may read. All pages are copied in one step
 * and one read transaction: concurrent writes do not restart the copy, and nobody waits for it in write-ahead mode.
 * @throws the errors of the driver and of the operating system.
 */
export async function copyPages(from: string, to: string, options: { readonly?: boolean } = {}): Promise<void> {
  closeSync(openSync(to, "wx", 0o600));
  const connection = new SqliteDriver(from, { ...options, fileMustExist: true, timeout: lockWaitMs });
  try {
    await connection.backup(to, { progress: () => pagesMax });
  } finally {
    connection.close();
  }
}

/** The copy is one file then: a reader in write-ahead mode would create others beside it. @throws the driver's errors. */
export function leaveWriteAheadMode(copy: string): void {
  const connection = new SqliteDriver(copy, { fileMustExist: true });
  try {
    connection.pragma("journal_mode = DELETE");
  } finally {
    connection.close();
  }
}
