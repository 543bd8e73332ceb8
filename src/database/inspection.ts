import type { Database } from "./database.ts";
import { sql } from "./statement.ts";

const problemsMax = 5;
const newestPushesMax = 1_000;

const quickCheck = sql<[], { quick_check: string }>(`PRAGMA quick_check(${problemsMax})`);
const size = sql<[], { bytes: number }>({
  sqlite: "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()",
  postgres: "SELECT pg_database_size(current_database()) AS bytes",
});
// Each part has an index or a limit, so the query stays fast when the database is large.
const newest = sql<[], { newest: number | null }>(
  `SELECT max(at) AS newest FROM (
     SELECT max(seen_at) AS at FROM processes
     UNION ALL SELECT max(seen_at) FROM sessions
     UNION ALL SELECT max(created_at) FROM users
     UNION ALL SELECT max(updated_at)
       FROM (SELECT updated_at FROM pushes ORDER BY id DESC LIMIT ${newestPushesMax}) AS last_pushes) AS times`,
);

/** Read-only checks for operators. */
export function createInspection(db: Database) {
  return {
    /**
     * SQLite's quick check of every page, which reads the whole file; empty: no problem. Always empty on PostgreSQL, which
     * checks its pages itself.
     */
    async problems(): Promise<readonly string[]> {
      switch (db.engine) {
        case "sqlite":
          return (await db.read.all(quickCheck)).flatMap((row) => (row.quick_check === "ok" ? [] : [row.quick_check]));
        case "postgres":
          return [];
        default:
          return db.engine satisfies never;
      }
    },
    /** The size of a SQLite file without its log, or of a PostgreSQL database with its indexes. */
    sizeBytes: async (): Promise<number> => (await db.read.one(size))?.bytes ?? 0,
    /** The latest stored time, ms since the epoch; undefined: a new database. */
    newestTime: async (): Promise<number | undefined> => (await db.read.one(newest))?.newest ?? undefined,
  };
}

/** Counting stops here: an exact count takes longer the more work is pending. */
const countedMax = 10_000;

const oldestDue = sql<[now: number], { expiresAt: number }>(
  "SELECT expires_at AS expiresAt FROM pushes WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT 1",
);
const dueBlobDeletions = sql<[now: number, limit: number], { due: number }>(
  "SELECT count(*) AS due FROM (SELECT 1 FROM blob_deletions WHERE due_at <= ? LIMIT ?) AS counted",
);

/**
 * The sweeper's pending work. Each part reads the head of an index.
 * @returns `oldestDueAt`: when the push that has waited longest expired; undefined: none is waiting.
 */
export async function readSweepBacklog(db: Pick<Database, "read">, now: number) {
  const [oldest, blobs] = await Promise.all([
    db.read.one(oldestDue, now),
    db.read.one(dueBlobDeletions, now, countedMax),
  ]);
  return { oldestDueAt: oldest?.expiresAt, blobDeletionsDue: blobs?.due ?? 0 };
}
