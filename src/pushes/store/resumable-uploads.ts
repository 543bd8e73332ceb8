import type { Database, Transaction } from "../../database/database.ts";
import { type Statement, sql, type Value } from "../../database/statement.ts";
import type { NewRowOf, RowOf, StoredRowOf } from "../../database/table.ts";
import { keysOfWidestNetwork } from "../../limits/client-shares.ts";
import { newResumableUploads, resumableUploads, uploads } from "./tables.ts";
import {
  destroyRowSecret,
  lastRowSecret,
  queueBlob,
  type SealedKey,
  sqlOfFreeRows,
  takeUpload,
  writeRowSecret,
} from "./write-operations.ts";

export type ResumableUpload = RowOf<typeof resumableUploads> & Pick<SealedKey, "keySealed">;
export type NewResumableUpload = Omit<NewRowOf<typeof resumableUploads>, "rowSecretId"> & SealedKey;

/** What has arrived so far. A user's bytes count as 0 anonymous bytes. */
export interface Progress {
  readonly blobKey: string;
  readonly receivedBytes: number;
  readonly expiresAt: number;
  /** null: the run has ended, and every sealed byte is acknowledged. */
  readonly runUntil: number | null;
}

/** For one sender. The clients of one IPv6 /48 have twice as much together, so that no network takes all places. */
export interface SenderBounds {
  readonly countMax: number;
  readonly bytesMax: number;
}

const uploadsMax = 10_000;

const insertResumable = sql<Value[]>({
  sqlite: newResumableUploads.insertText(1, lastRowSecret),
  postgres: newResumableUploads.insertText(),
});
interface Held {
  readonly count: number;
  readonly bytes: number;
}
const held = <Parameters extends readonly Value[]>(condition: string): Statement<Parameters, Held> =>
  sql<Parameters, Held>(
    `SELECT count(*) AS count, coalesce(sum(size_bytes), 0) AS bytes FROM resumable_uploads WHERE ${condition}`,
  );
const heldByUser = held<[ownerId: number]>("owner_id = ?");
const heldByClient = held<[client: string]>("owner_id IS NULL AND client = ?");
const heldBetween = held<[firstClient: string, endClient: string]>("owner_id IS NULL AND client >= ? AND client < ?");
const countAll = sql<[], { count: number }>(
  `SELECT count(*) AS count FROM (SELECT 1 FROM resumable_uploads LIMIT ${uploadsMax}) AS waiting`,
);
type Stored = StoredRowOf<typeof resumableUploads> & { readonly keySealed: Buffer };
const findValid = sql<[digest: Buffer, now: number], Stored>(
  `SELECT ${resumableUploads.selectList}, sealed AS keySealed FROM resumable_uploads
   JOIN row_secrets ON row_secrets.id = resumable_uploads.row_secret_id WHERE digest = ? AND expires_at > ?`,
);
const beginRun = sql<[run: number, runUntil: number, digest: Buffer, run: number, blobKey: string, received: number]>(
  `UPDATE resumable_uploads SET run = ?, run_until = ?
   WHERE digest = ? AND run = ? AND blob_key = ? AND received_bytes = ?`,
);
const extendRun = sql<[runUntil: number, digest: Buffer, run: number]>(
  "UPDATE resumable_uploads SET run_until = ? WHERE digest = ? AND run = ?",
);
const touchUpload = sql<[now: number, blobKey: string]>("UPDATE uploads SET renewed_at = ? WHERE blob_key = ?");
const useOfBlob = sql<[blobKey: string, blobKey: string], { found: number }>(
  "SELECT 1 AS found FROM uploads WHERE blob_key = ? UNION ALL SELECT 1 AS found FROM files WHERE blob_key = ?",
);
const insertUpload = uploads.insert();
const renewUpload = sql<[anonymousBytes: number, now: number, blobKey: string]>(
  "UPDATE uploads SET anonymous_bytes = ?, renewed_at = ? WHERE blob_key = ?",
);
const recordProgress = sql<
  [receivedBytes: number, run: number, runUntil: number, expiresAt: number, digest: Buffer, run: number]
>(
  `UPDATE resumable_uploads SET received_bytes = ?, run = ?, run_until = ?, expires_at = ?
   WHERE digest = ? AND run = ?`,
);
const replaceBlob = sql<[blobKey: string, detailsSealed: Buffer, runUntil: number, digest: Buffer, run: number]>(
  "UPDATE resumable_uploads SET blob_key = ?, details_sealed = ?, run_until = ? WHERE digest = ? AND run = ?",
);
const replaceKey = sql<[sealed: Buffer, id: number]>("UPDATE row_secrets SET sealed = ? WHERE id = ?");
interface Removed {
  readonly blobKey: string;
  readonly rowSecretId: number;
}
const deleteWhere = <Parameters extends readonly Value[]>(condition: string): Statement<Parameters, Removed> =>
  sql<Parameters, Removed>(
    `DELETE FROM resumable_uploads WHERE ${condition} RETURNING blob_key AS "blobKey", row_secret_id AS "rowSecretId"`,
  );
const deleteByDigest = deleteWhere<[digest: Buffer]>("digest = ?");
const deleteByRun = deleteWhere<[digest: Buffer, run: number]>("digest = ? AND run = ?");
const expired = sqlOfFreeRows<[now: number, limit: number], { digest: Buffer }>(
  "SELECT digest FROM resumable_uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
);

async function discard(tx: Transaction, digest: Buffer, run?: number): Promise<boolean> {
  const removed = run === undefined ? await tx.one(deleteByDigest, digest) : await tx.one(deleteByRun, digest, run);
  if (removed === undefined) return false;
  await tx.run(destroyRowSecret, removed.rowSecretId);
  await abandonUpload(tx, removed.blobKey);
  return true;
}

async function abandonUpload(tx: Transaction, blobKey: string): Promise<void> {
  if ((await tx.run(takeUpload, blobKey)) === 1) await tx.run(queueBlob, blobKey);
}

async function isSenderFull(
  tx: Transaction,
  { ownerId, client, sizeBytes }: NewResumableUpload,
  { countMax, bytesMax }: SenderBounds,
): Promise<boolean> {
  const isFull = ({ count, bytes }: Held, shares: number) =>
    count >= countMax * shares || bytes + sizeBytes > bytesMax * shares;
  const nothing = { count: 0, bytes: 0 };
  if (ownerId !== null) return isFull((await tx.one(heldByUser, ownerId)) ?? nothing, 1);
  if (isFull((await tx.one(heldByClient, client)) ?? nothing, 1)) return true;
  const network = keysOfWidestNetwork(client);
  if (network === undefined) return false;
  return isFull((await tx.one(heldBetween, network.first, network.end)) ?? nothing, network.shares);
}

async function insert(tx: Transaction, upload: NewResumableUpload, now: number): Promise<void> {
  const { keySealed, keyId, ...row } = upload;
  const rowSecretId = await writeRowSecret(tx, keyId, keySealed);
  await tx.run(insertResumable, ...newResumableUploads.values({ ...row, rowSecretId }));
  await tx.run(insertUpload, ...uploads.values({ blobKey: row.blobKey, renewedAt: now }));
}

function uploadRows(db: Pick<Database, "read" | "write" | "writeSerialized">) {
  return {
    /** @returns "sender_full", "server_full": there are too many unfinished uploads. */
    add: (upload: NewResumableUpload, bounds: SenderBounds, now: number) =>
      db.writeSerialized("uploads", async (tx) => {
        if (await isSenderFull(tx, upload, bounds)) return "sender_full";
        if (((await tx.one(countAll))?.count ?? 0) >= uploadsMax) return "server_full";
        await insert(tx, upload, now);
        return "added";
      }),
    async find(digest: Buffer, now: number): Promise<ResumableUpload | undefined> {
      const stored = await db.read.one(findValid, digest, now);
      if (stored === undefined) return undefined;
      const { keySealed, ...row } = stored;
      return { ...resumableUploads.decode(row), keySealed };
    },
    /** @returns false: another request has begun a run, or has written. */
    beginRun: (
      { digest, run, blobKey, receivedBytes }: Pick<ResumableUpload, "digest" | "run" | "blobKey" | "receivedBytes">,
      nextRun: number,
      runUntil: number,
    ) => db.write(async (tx) => (await tx.run(beginRun, nextRun, runUntil, digest, run, blobKey, receivedBytes)) === 1),
    /** Extends the run, and renews the record of the blob that the run writes. @returns false as `progress`. */
    extend: (
      digest: Buffer,
      run: number,
      blobKey: string,
      { runUntil, now }: { readonly runUntil: number; readonly now: number },
    ) =>
      db.write(async (tx) => {
        if ((await tx.run(extendRun, runUntil, digest, run)) !== 1) return false;
        await tx.run(touchUpload, now, blobKey);
        return true;
      }),
    /**
     * Ends a run that failed. The next one still finds it: bytes may be sealed that were not acknowledged.
     * @returns false: the upload was removed, or another request has begun a run.
     */
    release: (digest: Buffer, run: number): Promise<boolean> =>
      db.write(async (tx) => (await tx.run(extendRun, 0, digest, run)) === 1),
  };
}

function uploadProgress(db: Pick<Database, "read" | "write" | "writeSerialized">) {
  return {
    /**
     * @returns false: the upload was removed, or another request has begun a run. Then the run's blob is queued for deletion
     *   if nothing names it: it may have been made after that of the upload was deleted.
     */
    progress: (digest: Buffer, run: number, progress: Progress & { readonly anonymousBytes: number }, now: number) =>
      db.write(async (tx) => {
        const { receivedBytes, runUntil, expiresAt, blobKey, anonymousBytes } = progress;
        const nextRun = runUntil === null ? 0 : run;
        const changed = await tx.run(recordProgress, receivedBytes, nextRun, runUntil ?? 0, expiresAt, digest, run);
        if (changed === 1) await tx.run(renewUpload, anonymousBytes, now, blobKey);
        else if ((await tx.one(useOfBlob, blobKey, blobKey)) === undefined) await tx.run(queueBlob, blobKey);
        return changed === 1;
      }),
    /**
     * After a run that was interrupted: its writer, if it still exists, writes to a blob that nothing uses any more.
     * @param next its blob is recorded by `PushStore.addUpload`. @returns false as `progress`, or this record was swept.
     */
    replaceBlob: (
      earlier: Pick<ResumableUpload, "digest" | "blobKey" | "rowSecretId">,
      run: number,
      next: Pick<ResumableUpload, "blobKey" | "detailsSealed" | "keySealed" | "runUntil">,
      now: number,
    ) =>
      db.write(async (tx) => {
        const { digest, blobKey, rowSecretId } = earlier;
        if ((await tx.run(touchUpload, now, next.blobKey)) !== 1) return false;
        if ((await tx.run(replaceBlob, next.blobKey, next.detailsSealed, next.runUntil, digest, run)) !== 1)
          return false;
        await tx.run(replaceKey, next.keySealed, rowSecretId);
        await abandonUpload(tx, blobKey);
        return true;
      }),
    /**
     * Overwrites the key and queues the blob for deletion, due at once. @returns false: there is no such upload.
     * @param run only if this is its latest run.
     */
    discard: (digest: Buffer, run?: number): Promise<boolean> => db.write((tx) => discard(tx, digest, run)),
  };
}

/**
 * Files that are sent in several requests. Writing to a blob needs a run: only the process that has begun the latest run may
 * write, and only to the blob that the row names. Times in ms since the epoch.
 */
export function createResumableUploads(db: Pick<Database, "read" | "write" | "writeSerialized">) {
  return { ...uploadRows(db), ...uploadProgress(db) };
}

/** Stored files that no push has yet. The sweeper abandons those that are not renewed. */
export function uploadRecords(db: Pick<Database, "autocommit" | "write">) {
  return {
    async addUpload(blobKey: string, now: number): Promise<void> {
      await db
        .autocommit({ retry: "whenNotExecuted" })
        .run(insertUpload, ...uploads.values({ blobKey, renewedAt: now }));
    },
    /** @returns false when one of the uploads is no longer recorded: it was swept as an orphan. */
    renewUploads: (
      renewals: readonly { readonly blobKey: string /** 0 for users. */; readonly anonymousBytes: number }[],
      now: number,
    ): Promise<boolean> =>
      db.write(async (tx) => {
        let renewed = 0;
        for (const { anonymousBytes, blobKey } of renewals) {
          renewed += await tx.run(renewUpload, anonymousBytes, now, blobKey);
        }
        return renewed === renewals.length;
      }),
    /** Queues the blobs of the uploads for deletion, due at once. */
    abandonUploads: (blobKeys: readonly string[]): Promise<void> =>
      db.write(async (tx) => {
        for (const blobKey of blobKeys) await abandonUpload(tx, blobKey);
      }),
  };
}

/** Uploads to which nothing was sent for too long. @returns how many. */
export function removeUnfinishedUploads(db: Pick<Database, "write">, now: number, limit: number): Promise<number> {
  return db.write(async (tx) => {
    const found = await tx.all(expired, now, limit);
    for (const { digest } of found) await discard(tx, digest);
    return found.length;
  });
}
