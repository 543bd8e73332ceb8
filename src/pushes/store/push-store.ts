import type { LinkAddress } from "../../crypto/url-token.ts";
import type { Database, InTransaction, ReadConnection } from "../../database/database.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import { type FileList, listFiles } from "../seals.ts";
import { createBulkEndings } from "./bulk-endings.ts";
import { createClaimRetries } from "./claim-retries.ts";
import { createDownloadTickets } from "./download-tickets.ts";
import { editWrites } from "./edit-push.ts";
import { findByLink, selectByLink } from "./find-link.ts";
import { createCreationKeys } from "./idempotency-keys.ts";
import { insertWrites } from "./insert-push.ts";
import { createAdminLists, createLists } from "./lists.ts";
import { createUpkeep } from "./maintenance.ts";
import { createLinkDeliveries, createViewNotifications } from "./notifications.ts";
import { createResumableUploads, uploadRecords } from "./resumable-uploads.ts";
import { type FileRow, type PushRow, readFiles, readPushes, type SealedPush, type StoredPush } from "./tables.ts";
import { type EndRequest, endPush, recordEvent, recordRefusal } from "./write-operations.ts";
import { claimWrites } from "./write-view.ts";

const pushByLink = selectByLink<StoredPush>((condition) => `SELECT ${readPushes.selectList} FROM pushes ${condition}`);
const pushById = readPushes.select<[pushId: number]>("WHERE id = ?");
const filesOfPush = readFiles.select<[pushId: number]>("WHERE push_id = ?");

export async function findPushById(connection: ReadConnection, pushId: number): Promise<PushRow | undefined> {
  const raw = await connection.one(pushById, pushId);
  return raw === undefined ? undefined : readPushes.decode(raw);
}

export async function findFilesOf(connection: ReadConnection, pushId: number): Promise<FileList<FileRow>> {
  return listFiles((await connection.all(filesOfPush, pushId)).map((row) => readFiles.decode(row)));
}

/** The database operations that creating and retrieving a push need. */
export type HotDatabase = Pick<Database, "engine" | "hot" | "read" | "lookUp" | "autocommit" | "write" | "untilKnown">;
export type HotPath = ReturnType<typeof createHotPath>;

export function createHotPath(db: HotDatabase) {
  return { ...insertWrites(db), ...claimWrites(db) };
}

export type PushStore = ReturnType<typeof createPushStore>;

/**
 * Stores pushes. Every method is atomic, and a writing method returns once its write is durable. The writes contain the
 * guards, so earlier reads decide nothing.
 */
export function createPushStore(db: Database) {
  const lists = createLists(db.read);

  return {
    ...createHotPath(db),
    ...editWrites(db),
    ...uploadRecords(db),
    async find(link: LinkAddress): Promise<PushRow | undefined> {
      const raw = await findByLink(db.read, pushByLink, link);
      return raw === undefined ? undefined : readPushes.decode(raw);
    },
    findById: (pushId: number) => findPushById(db.read, pushId),
    files: (pushId: number) => findFilesOf(db.read, pushId),
    filesOf: ({ row, hasFiles }: Pick<SealedPush, "hasFiles"> & { readonly row: Pick<PushRow, "id"> }) =>
      hasFiles ? findFilesOf(db.read, row.id) : listFiles<FileRow>([]),
    /** See `endPush`. @param together writes in the same transaction. */
    end: (request: EndRequest, together?: InTransaction): Promise<boolean> =>
      db.write(async (tx) => {
        const ended = await endPush(tx, request);
        if (ended) await together?.(tx);
        return ended;
      }),
    recordRefusal: (pushId: number, audit: AuditRecord) => db.write((tx) => recordRefusal(tx, pushId, audit)),
    record: (pushId: number, audit: AuditRecord) => db.write((tx) => recordEvent(tx, pushId, audit)),
    resumableUploads: createResumableUploads(db),
    claimRetries: createClaimRetries(db),
    creationKeys: createCreationKeys(db),
    linkDeliveries: createLinkDeliveries(db),
    viewNotifications: createViewNotifications(db, lists),
    lists,
    adminLists: createAdminLists(db.read),
    downloadTickets: createDownloadTickets(db),
    upkeep: createUpkeep(db),
    bulkEndings: createBulkEndings(db),
  };
}
