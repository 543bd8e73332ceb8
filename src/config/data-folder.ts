import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemErrorCode } from "./system-error.ts";

/**
 * Makes the data folder, its user's alone, and the folders above it where they are missing; one that is there stays as
 * it is. @throws Error with one sentence for the operator.
 */
export function makeDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    throw new Error(`The data folder ${dataDir} cannot be made (${code}): check DATA_DIR.`, { cause: error });
  }
  if (!statSync(dataDir).isDirectory()) throw new Error(`${dataDir} is not a folder: check DATA_DIR.`);
}

/**
 * Level by level, because Node's recursive form never returns where a folder takes no new ones and says so with ENOENT,
 * as /proc does.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same time may have been faster.
    if (systemErrorCode(error) !== "EEXIST") throw error;
  }
}
