import { integrityOf } from "./database-file.ts";
import { withDatabaseOf } from "./database-of.ts";
import { engine } from "./engine.ts";
import { countRows } from "./engine-database.ts";

const orAnonymous = engine === "sqlite" ? " OR owner_id IS NULL" : "";

/** Inconsistent rows that no crash may leave behind. */
const inconsistencies: Readonly<Record<string, readonly [table: string, where: string]>> = {
  "living push without its key": [
    "pushes",
    "ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM row_secrets WHERE row_secrets.id = pushes.row_secret_id)",
  ],
  "living push without its payload": [
    "pushes",
    "ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM payloads WHERE payloads.push_id = pushes.id)",
  ],
  "living push with all its views used": ["pushes", "ended_at IS NULL AND views >= expire_after_views"],
  "push with more views than it has": ["pushes", "views > expire_after_views"],
  // That of an ended anonymous push may wait for the sweeper on SQLite.
  "payload without a living push or a claim that can be repeated": [
    "payloads",
    `NOT EXISTS (SELECT 1 FROM pushes WHERE pushes.id = payloads.push_id AND (ended_at IS NULL${orAnonymous}))
     AND NOT EXISTS (SELECT 1 FROM claim_retries
       WHERE claim_retries.push_id = payloads.push_id AND row_secret_id IS NOT NULL)`,
  ],
  "claim that can be repeated without its copy of the row secret": [
    "claim_retries",
    "row_secret_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM row_secrets WHERE row_secrets.id = claim_retries.row_secret_id)",
  ],
  "download ticket without its key": [
    "download_tickets",
    "NOT EXISTS (SELECT 1 FROM row_secrets WHERE row_secrets.id = download_tickets.row_secret_id)",
  ],
  "address of the creator of an ended push": ["pushes", "ended_at IS NOT NULL AND creator_address IS NOT NULL"],
  "audit entry without its push": [
    "audit_entries",
    "NOT EXISTS (SELECT 1 FROM pushes WHERE pushes.id = audit_entries.push_id)",
  ],
};

/**
 * Finds damage in the database of a data folder that no process has open. SQLite also runs its own check of every page
 * and index; PostgreSQL checks its pages whenever it reads them.
 * @returns one description per problem.
 */
export async function findDamage(dataDir: string): Promise<readonly string[]> {
  const ofFile = engine === "sqlite" ? integrityOf(dataDir).filter((line) => line !== "ok") : [];
  const ofRows = await withDatabaseOf(dataDir, async (db) => {
    const found: string[] = [];
    for (const [what, [table, where]] of Object.entries(inconsistencies)) {
      const count = await countRows(db, table, where);
      if (count > 0) found.push(`${count} × ${what}`);
    }
    return found;
  });
  return [...ofFile.map(String), ...ofRows];
}
