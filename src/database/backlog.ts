import type { Database } from "./database.ts";
import { sql } from "./statement.ts";

/** A count of many would take the longer the more there is to do. */
const countedMax = 10_000;

const oldestDue = sql<[now: number], { expiresAt: number }>(
  "SELECT expires_at AS expiresAt FROM pushes WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT 1",
);
const dueBlobDeletions = sql<[now: number, limit: number], { due: number }>(
  "SELECT count(*) AS due FROM (SELECT 1 FROM blob_deletions WHERE due_at <= ? LIMIT ?) AS counted",
);

/** What the sweeper has not come to yet. Each part reads the head of an index. */
export interface SweepBacklog {
  /** When the push ended that waits longest; undefined: none waits. */
  readonly oldestDueAt: number | undefined;
  /** 10,000 at most. */
  readonly blobDeletionsDue: number;
}

export async function readSweepBacklog(db: Pick<Database, "read">, now: number): Promise<SweepBacklog> {
  const [oldest, blobs] = await Promise.all([
    db.read.one(oldestDue, now),
    db.read.one(dueBlobDeletions, now, countedMax),
  ]);
  return { oldestDueAt: oldest?.expiresAt, blobDeletionsDue: blobs?.due ?? 0 };
}
