import type { Random } from "../base/random.ts";
import { capabilitiesOf, type Database } from "../database/database.ts";
import { createInMemoryLimits } from "./in-memory-limits.ts";
import type { Limits } from "./limits.ts";
import { createSharedLimits } from "./shared-limits.ts";

/**
 * Where several processes may use the database, they count together in it; otherwise the process counts in memory.
 * @param onUnanswered called when the database does not answer and this process counts alone.
 */
export function createLimits(db: Database, random: Random, onUnanswered: (error: unknown) => void): Limits {
  return capabilitiesOf[db.engine].manyProcesses
    ? createSharedLimits(db, random, onUnanswered)
    : createInMemoryLimits();
}
