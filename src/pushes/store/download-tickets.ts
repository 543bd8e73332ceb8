import { unavailable } from "../../base/errors.ts";
import { capabilitiesOf, type Database, type Transaction } from "../../database/database.ts";
import { type Statement, sql, type Value } from "../../database/statement.ts";
import type { RowOf } from "../../database/table.ts";
import { downloadTickets, newRowSecrets } from "./tables.ts";
import { destroyRowSecret, type SealedKey, sqlOfFreeRows } from "./write-operations.ts";

/** A ticket for one file, to be stored. */
export type NewTicket = Omit<RowOf<typeof downloadTickets>, "pushId" | "rowSecretId" | "waitsForStore"> & SealedKey;

const ticketsMax = 100_000;
/** Views that are not counted and repeated answers have no limit of their own. Counted views have one. */
const ticketsOfPushMax = 1_000;
const waitingTicketsMax = 10_000;
const retryAfterSeconds = 60;

const countLive = sql<[], { tickets: number }>(
  `SELECT count(*) AS tickets FROM (SELECT 1 FROM download_tickets LIMIT ${ticketsMax}) AS live`,
);
const countOfPush = sql<[pushId: number], { tickets: number }>(
  "SELECT count(*) AS tickets FROM download_tickets WHERE push_id = ?",
);

interface Inserts {
  readonly keys: Statement<Value[], never>;
  readonly tickets: Statement<Value[], never>;
}
const insertsByCount = new Map<number, Inserts>();

/** One statement for all tickets of a claim, prepared once for each number of files. */
function insertsOf(count: number): Inserts {
  const known = insertsByCount.get(count);
  if (known !== undefined) return known;
  const inserts = {
    keys: newRowSecrets.insert("", count),
    tickets: sql<Value[]>({
      // SQLite gives the keys consecutive ids. The parameter counts back from the last one.
      sqlite: downloadTickets.insertText(count, { rowSecretId: "last_insert_rowid() - ?" }),
      postgres: downloadTickets.insertText(count),
    }),
  };
  insertsByCount.set(count, inserts);
  return inserts;
}

/**
 * For the transaction that counts or logs the view.
 * @param counted false: the view is not counted. @throws AppError unavailable when there are too many tickets.
 */
export async function insertTickets(
  tx: Transaction,
  pushId: number,
  tickets: readonly NewTicket[],
  counted: boolean,
): Promise<void> {
  if (tickets.length === 0) return;
  const live = (await tx.one(countLive))?.tickets ?? 0;
  const ofPush = counted ? 0 : ((await tx.one(countOfPush, pushId))?.tickets ?? 0);
  if (live >= ticketsMax || ofPush >= ticketsOfPushMax) {
    throw unavailable("Too many downloads are open. Try again later.", retryAfterSeconds);
  }
  const ownIds = capabilitiesOf[tx.engine].rowSecretId === "push";
  const inserts = insertsOf(tickets.length);
  const keys = tickets.flatMap(({ keyId, keySealed }) =>
    newRowSecrets.values({ id: ownIds ? keyId : null, sealed: keySealed }),
  );
  await tx.run(inserts.keys, ...keys);
  const rows = tickets.flatMap(({ keyId, ...ticket }, at) =>
    downloadTickets.values({ ...ticket, pushId, rowSecretId: ownIds ? keyId : tickets.length - 1 - at }),
  );
  await tx.run(inserts.tickets, ...rows);
}

type StoredTicket = Pick<RowOf<typeof downloadTickets>, "pushId" | "fileId"> & Pick<SealedKey, "keySealed">;

const findValid = sql<[digest: Buffer, now: number], StoredTicket>(
  `SELECT push_id AS pushId, file_id AS fileId, sealed AS keySealed
   FROM download_tickets JOIN row_secrets ON row_secrets.id = download_tickets.row_secret_id
   WHERE digest = ? AND expires_at > ?`,
);
const countWaiting = sql<[], { tickets: number }>(
  "SELECT count(*) AS tickets FROM download_tickets WHERE waits_for_store = 1",
);
// Tickets of one retrieval expire together.
const waitForStore = sql<[digest: Buffer]>(
  `UPDATE download_tickets SET waits_for_store = 1, expires_at = latest_expiry
   WHERE (push_id, latest_expiry) = (SELECT push_id, latest_expiry FROM download_tickets WHERE digest = ?)`,
);
const filesOfTickets = "files JOIN download_tickets ON download_tickets.push_id = files.push_id AND file_id = files.id";
const waitingBlobs = sql<[now: number, limit: number], { blobKey: string }>(
  `SELECT DISTINCT blob_key AS blobKey FROM ${filesOfTickets} WHERE waits_for_store = 1 AND expires_at > ? LIMIT ?`,
);
// A blob that is due at once belongs to a push that a person has deleted meanwhile.
const keepBlobs = sql<[dueAt: number, dueBefore: number]>(
  `UPDATE blob_deletions SET due_at = ? WHERE due_at > 0 AND due_at < ?
   AND blob_key IN (SELECT blob_key FROM ${filesOfTickets} WHERE waits_for_store = 1)`,
);
const resumeTickets = sql<[expiresAt: number, expiresAt: number]>(
  `UPDATE download_tickets SET waits_for_store = 0, expires_at = CASE WHEN expires_at < ? THEN expires_at ELSE ? END
   WHERE waits_for_store = 1`,
);
/** @param waits whether the tickets wait for the store: each kind has an index. */
const expiryOf = (waits: 0 | 1) => ({
  bounds: sql<[], { first: number | null; last: number | null }>(
    `SELECT (SELECT min(expires_at) FROM download_tickets WHERE waits_for_store = ${waits}) AS first,
       (SELECT max(expires_at) FROM download_tickets WHERE waits_for_store = ${waits}) AS last`,
  ),
  expired: sqlOfFreeRows<[now: number, latest: number, limit: number], { digest: Buffer; rowSecretId: number }>(
    `SELECT digest, row_secret_id AS "rowSecretId" FROM download_tickets
     WHERE waits_for_store = ${waits} AND (expires_at <= ? OR expires_at > ?) ORDER BY expires_at LIMIT ?`,
  ),
});
const [expiryOfIssued, expiryOfWaiting] = [expiryOf(0), expiryOf(1)];
const deleteTicket = sql<[digest: Buffer]>("DELETE FROM download_tickets WHERE digest = ?");

/** A condition on a row of `blob_deletions`: no ticket waits for the blob. */
export const hasNoWaitingTicket = `NOT EXISTS (
  SELECT 1 FROM ${filesOfTickets} WHERE files.blob_key = blob_deletions.blob_key AND waits_for_store = 1)`;

/** A condition on a row of `blob_deletions`: no ticket opens the blob. */
export const hasNoTicket = `NOT EXISTS (SELECT 1 FROM ${filesOfTickets} WHERE files.blob_key = blob_deletions.blob_key)`;

/**
 * What retrievals issue for files. A ticket has a row until it expires, or a person deletes its push or file. It does not
 * expire while the store of files does not answer. Times in ms since the epoch.
 */
export function createDownloadTickets(db: Pick<Database, "read" | "write" | "autocommit">) {
  return {
    find: (digest: Buffer, now: number): Promise<StoredTicket | undefined> => db.read.one(findValid, digest, now),
    /**
     * The store does not answer: the tickets of this retrieval wait for it, those of an archive and of files that were not tried
     * yet, too. Does nothing when too many wait.
     */
    wait: (digest: Buffer): Promise<void> =>
      db.write(async (tx) => {
        const waiting = (await tx.one(countWaiting))?.tickets ?? 0;
        if (waiting < waitingTicketsMax) await tx.run(waitForStore, digest);
      }),
    waitingBlobs: async (now: number, limit: number): Promise<readonly string[]> =>
      (await db.read.all(waitingBlobs, now, limit)).map(({ blobKey }) => blobKey),
    /**
     * The store answers: waiting tickets expire at `expiresAt` at the latest.
     * @param blobsDueAt their blobs are kept until then. @returns how many.
     */
    resume: (expiresAt: number, blobsDueAt: number): Promise<number> =>
      db.write(async (tx) => {
        await tx.run(keepBlobs, blobsDueAt, blobsDueAt);
        return await tx.run(resumeTickets, expiresAt, expiresAt);
      }),
    /**
     * Overwrites the keys of expired tickets.
     * @param latest tickets that expire later were issued before the clock was set back. @returns how many.
     */
    async removeExpired(
      now: number,
      latest: { readonly issued: number; readonly waiting: number },
      limit: number,
    ): Promise<number> {
      const issued = await removeExpired(db, expiryOfIssued, { now, latest: latest.issued, limit });
      return issued + (await removeExpired(db, expiryOfWaiting, { now, latest: latest.waiting, limit }));
    },
  };
}

async function removeExpired(
  db: Pick<Database, "read" | "write">,
  { bounds, expired }: ReturnType<typeof expiryOf>,
  { now, latest, limit }: { readonly now: number; readonly latest: number; readonly limit: number },
): Promise<number> {
  const { first = null, last = null } = (await db.read.one(bounds)) ?? {};
  if (first === null || last === null || (first > now && last <= latest)) return 0;
  return await db.write(async (tx) => {
    const found = await tx.all(expired, now, latest, limit);
    for (const { digest, rowSecretId } of found) {
      await tx.run(deleteTicket, digest);
      await tx.run(destroyRowSecret, rowSecretId);
    }
    return found.length;
  });
}
