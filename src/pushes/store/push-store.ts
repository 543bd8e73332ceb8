import type { Database, InTransaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { type AuditRecord, auditKinds } from "../audit/audit-trail.ts";
import { createClaimView } from "./claim-view.ts";
import { type ChangeOutcome, changePush, type PushChange } from "./edit-push.ts";
import { createInsertPush } from "./insert-push.ts";
import { createAdminLists, createLists } from "./lists.ts";
import { createUpkeep } from "./maintenance.ts";
import { createLinkDeliveries, createViewNotifications } from "./notifications.ts";
import {
  type FileRow,
  type PushRow,
  readFiles,
  readPushes,
  type SealedPush,
  type StoredPush,
  uploads,
} from "./tables.ts";
import { createWriteOperations, type EndRequest, queueBlob, takeUpload, UploadSweptError } from "./write-operations.ts";

type StoredSealedPush = StoredPush &
  Pick<SealedPush, "dataKeySealed" | "payloadSealed"> & { readonly hasFiles: number };

// Subselects instead of a join: with a joined table SQLite plans the whole statement again at every execution, because
// the bound digest might fit a partial index. That cost seven times as much as the read itself.
const sealedByDigest = sql<[tokenDigest: Buffer], StoredSealedPush>(
  `SELECT ${readPushes.selectList},
     (SELECT sealed FROM data_keys WHERE id = pushes.data_key_id AND pushes.ended_at IS NULL) AS dataKeySealed,
     (SELECT sealed FROM payloads WHERE push_id = pushes.id) AS payloadSealed,
     CASE WHEN EXISTS (SELECT 1 FROM files WHERE push_id = pushes.id) THEN 1 ELSE 0 END AS hasFiles
   FROM pushes WHERE token_digest = ?`,
);
const pushByDigest = readPushes.select<[tokenDigest: Buffer]>("WHERE token_digest = ?");
const pushById = readPushes.select<[pushId: number]>("WHERE id = ?");
const filesOfPush = readFiles.select<[pushId: number]>("WHERE push_id = ? ORDER BY id");
const listed = (condition: string) =>
  readPushes.select<[ownerId: number, now: number, limit: number, offset: number]>(
    `WHERE owner_id = ? AND (${condition}) ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
  );
const listsByState = {
  active: listed("ended_at IS NULL AND expires_at > ?"),
  expired: listed("ended_at IS NOT NULL OR expires_at <= ?"),
};
const downloadBy = sql<[pushId: number, kind: number, address: string, since: number], { sequence: number }>(
  "SELECT sequence FROM audit_entries WHERE push_id = ? AND kind = ? AND address = ? AND updated_at >= ? LIMIT 1",
);
const insertUpload = uploads.insert();
const renewUpload = sql<[anonymousBytes: number, now: number, blobKey: string]>(
  "UPDATE uploads SET anonymous_bytes = ?, renewed_at = ? WHERE blob_key = ?",
);

/** The database operations that creating and retrieving a push need. */
export type HotDatabase = Pick<Database, "engine" | "hot" | "lookUp" | "autocommit" | "write" | "keyDestroyed">;
export type HotPath = ReturnType<typeof createHotPath>;

export function createHotPath(db: HotDatabase) {
  const operations = createWriteOperations(db);
  return {
    insert: createInsertPush(db, operations),
    claimView: createClaimView(db, operations),
    async findSealed(tokenDigest: Buffer): Promise<SealedPush | undefined> {
      const stored = await db.hot.read(sealedByDigest, tokenDigest);
      if (stored === undefined) return undefined;
      const { dataKeySealed, payloadSealed, hasFiles } = stored;
      return { row: readPushes.decode(stored), dataKeySealed, payloadSealed, hasFiles: hasFiles === 1 };
    },
  };
}

export type PushStore = ReturnType<typeof createPushStore>;

/**
 * Stores pushes. Every method is atomic, and a writing method returns once its write is durable. The writes contain the
 * guards, so earlier reads decide nothing.
 */
export function createPushStore(db: Database) {
  const operations = createWriteOperations(db);
  const lists = createLists(db.read);

  return {
    ...createHotPath(db),
    async find(tokenDigest: Buffer): Promise<PushRow | undefined> {
      const raw = await db.read.one(pushByDigest, tokenDigest);
      return raw === undefined ? undefined : readPushes.decode(raw);
    },
    async findById(pushId: number): Promise<PushRow | undefined> {
      const raw = await db.read.one(pushById, pushId);
      return raw === undefined ? undefined : readPushes.decode(raw);
    },
    /** In the order in which they were added. */
    files: async (pushId: number): Promise<readonly FileRow[]> =>
      (await db.read.all(filesOfPush, pushId)).map((row) => readFiles.decode(row)),
    /**
     * Atomic. Guarded like a claim, and by the used views, which stay below the limit.
     * `refused`: the guard matched no row. `upload_swept`: the upload of an added file is no longer recorded.
     */
    async change(request: PushChange, audit: AuditRecord): Promise<ChangeOutcome> {
      try {
        const row = await db.write((tx) =>
          changePush(tx, request, audit, { ...operations, keyDestroyed: () => db.keyDestroyed() }),
        );
        return row === undefined ? { outcome: "refused" } : { outcome: "changed", row };
      } catch (error) {
        if (error instanceof UploadSweptError) return { outcome: "upload_swept" };
        throw error;
      }
    },
    /** @returns false when the push had ended already, or is not due. @param together writes in the same transaction. */
    end: (request: EndRequest, together?: InTransaction): Promise<boolean> =>
      db.write(async (tx) => {
        const ended = await operations.end(tx, request);
        if (ended) await together?.(tx);
        return ended;
      }),
    recordRefusal: (pushId: number, audit: AuditRecord) =>
      db.write((tx) => operations.recordRefusal(tx, pushId, audit)),
    record: (pushId: number, audit: AuditRecord) => db.write((tx) => operations.record(tx, pushId, audit)),
    /** Whether the audit trail has a download by this address since that time. */
    hasDownload: async (pushId: number, address: string, since: number): Promise<boolean> =>
      (await db.read.one(downloadBy, pushId, auditKinds.download, address, since)) !== undefined,
    /** Newest first. */
    list: async (
      ownerId: number,
      state: "active" | "expired",
      now: number,
      limit: number,
      offset: number,
    ): Promise<readonly PushRow[]> =>
      (await db.read.all(listsByState[state], ownerId, now, limit, offset)).map((row) => readPushes.decode(row)),
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
        for (const blobKey of blobKeys) {
          if ((await tx.run(takeUpload, blobKey)) === 1) await tx.run(queueBlob, blobKey);
        }
      }),
    linkDeliveries: createLinkDeliveries(db),
    viewNotifications: createViewNotifications(db, lists),
    lists,
    adminLists: createAdminLists(db.read),
    upkeep: createUpkeep(db, operations),
  };
}
