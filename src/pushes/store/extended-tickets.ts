import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { endReasons } from "../push.ts";
import { extendedTickets } from "./tables.ts";

/** Only tickets of counted views have rows, at most one each, and no view is counted while the store is away. */
const ticketsMax = 10_000;

const countTickets = sql<[], { tickets: number }>("SELECT count(*) AS tickets FROM extended_tickets");
const extendTicket = extendedTickets.insert(
  "ON CONFLICT (digest) DO UPDATE SET waits_for_store = 1, expires_at = excluded.expires_at",
);
const findValid = sql<[digest: Buffer, now: number], { expiresAt: number }>(
  "SELECT expires_at AS expiresAt FROM extended_tickets WHERE digest = ? AND expires_at > ?",
);
const waitingBlobs = sql<[now: number, limit: number], { blobKey: string }>(
  "SELECT DISTINCT blob_key AS blobKey FROM extended_tickets WHERE waits_for_store = 1 AND expires_at > ? LIMIT ?",
);
const resumeTickets = sql<[expiresAt: number, expiresAt: number]>(
  `UPDATE extended_tickets SET waits_for_store = 0, expires_at = CASE WHEN expires_at < ? THEN expires_at ELSE ? END
   WHERE waits_for_store = 1`,
);
const removeTickets = sql<[expiredBefore: number]>("DELETE FROM extended_tickets WHERE expires_at < ?");

/** A condition on a row of `blob_deletions`: the blob is not needed by an extended ticket. A deletion by a person voids tickets. */
export const hasNoExtendedTicket = `NOT EXISTS (
  SELECT 1 FROM extended_tickets
    JOIN files ON files.blob_key = extended_tickets.blob_key
    JOIN pushes ON pushes.id = files.push_id
  WHERE extended_tickets.blob_key = blob_deletions.blob_key
    AND pushes.end_reason IN (${endReasons.views}, ${endReasons.time}))`;

export type ExtendedTickets = ReturnType<typeof createExtendedTickets>;

/**
 * Download tickets that do not expire while the store of files does not answer. The blobs of their files are kept
 * while they have a row here. Times in ms since the epoch.
 */
export function createExtendedTickets(db: Database) {
  return {
    /** @param expiresAt the time of expiry if the store never answers. Does nothing when too many tickets are extended. */
    extend: (digest: Buffer, blobKey: string, expiresAt: number): Promise<void> =>
      db.write(async (tx) => {
        const tickets = (await tx.one(countTickets))?.tickets ?? 0;
        if (tickets >= ticketsMax) return;
        await tx.run(extendTicket, ...extendedTickets.values({ digest, blobKey, waitsForStore: true, expiresAt }));
      }),
    isValid: async (digest: Buffer, now: number): Promise<boolean> =>
      (await db.read.one(findValid, digest, now)) !== undefined,
    /** Keys of blobs for which tickets wait. */
    waitingBlobs: async (now: number, limit: number): Promise<readonly string[]> =>
      (await db.read.all(waitingBlobs, now, limit)).map(({ blobKey }) => blobKey),
    /** The store answers: waiting tickets expire at `expiresAt` at the latest. @returns how many. */
    resume: (expiresAt: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(resumeTickets, expiresAt, expiresAt),
    remove: (expiredBefore: number): Promise<number> =>
      db.autocommit({ retry: "whenNotExecuted" }).run(removeTickets, expiredBefore),
  };
}
