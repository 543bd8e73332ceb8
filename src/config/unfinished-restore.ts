import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The folder in which a restore makes its work ready. While it is there, a restore runs or was interrupted, and what lies
 * beside it may be half of a domain.
 */
export function unfinishedRestorePath(dataDir: string): string {
  return join(dataDir, "restore-unfinished");
}

/** @throws Error with a sentence for the operator. */
export function refuseUnfinishedRestore(dataDir: string): void {
  const path = unfinishedRestorePath(dataDir);
  if (!existsSync(path)) return;
  throw new Error(
    `A restore into ${dataDir} runs or was interrupted: if none runs, remove ${path}, the database and the folder blobs ` +
      "beside it, and restore again.",
  );
}
