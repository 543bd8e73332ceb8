import type { Clock } from "./base/clock.ts";
import { diskSpaceOf, freeDiskFloorBytes } from "./blobs/disk.ts";
import type { Config } from "./config/config.ts";
import type { Database } from "./database/database.ts";
import { createInspection } from "./database/inspection.ts";
import { createProcessRegistry } from "./database/processes.ts";

/** The server status, for administrators. */
export interface Health {
  readonly databaseAnswers: boolean;
  readonly databaseBytes: number;
  readonly diskFreeBytes: number;
  readonly diskTotalBytes: number;
  /** Below it no new pushes are accepted. */
  readonly diskFloorBytes: number;
  /** Processes that use this database. */
  readonly processes: number;
}

export function createHealth(deps: {
  readonly db: Database;
  readonly config: Pick<Config, "dataDir" | "freeDiskBytesMin">;
  readonly clock: Clock;
  readonly canServe: () => Promise<boolean>;
}): () => Promise<Health> {
  const { db, config, clock, canServe } = deps;
  const diskSpace = diskSpaceOf(config.dataDir);
  const registry = createProcessRegistry(db);
  const inspection = createInspection(db);
  return async () => {
    const { freeBytes, totalBytes } = await diskSpace();
    return {
      databaseAnswers: await canServe(),
      databaseBytes: await inspection.sizeBytes(),
      diskFreeBytes: freeBytes,
      diskTotalBytes: totalBytes,
      diskFloorBytes: freeDiskFloorBytes(config.freeDiskBytesMin, totalBytes),
      processes: (await registry.running(clock.now())).length,
    };
  };
}
