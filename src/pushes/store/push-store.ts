import type { Database } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { auditKinds } from "../audit/audit-trail.ts";
import type { PushStore } from "../store.ts";
import { changePush } from "./edit-push.ts";
import { createHotPath } from "./hot-path.ts";
import { createLists, createSurveys } from "./lists.ts";
import { createUpkeep } from "./maintenance.ts";
import { createLinkDeliveries, createViewNotifications } from "./notifications.ts";
import { readFiles, readPushes, uploads } from "./tables.ts";
import { createSteps, queueBlob, takeUpload, UploadSweptError } from "./write-operations.ts";

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

export function createPushStore(db: Database): PushStore {
  const steps = createSteps(db);
  const lists = createLists(db.read);

  return {
    ...createHotPath(db, steps),
    async find(tokenDigest) {
      const raw = await db.read.one(pushByDigest, tokenDigest);
      return raw === undefined ? undefined : readPushes.decode(raw);
    },
    async findById(pushId) {
      const raw = await db.read.one(pushById, pushId);
      return raw === undefined ? undefined : readPushes.decode(raw);
    },
    files: async (pushId) => (await db.read.all(filesOfPush, pushId)).map((row) => readFiles.decode(row)),
    async change(request, audit) {
      try {
        const row = await db.write((tx) =>
          changePush(tx, request, audit, { ...steps, keyDestroyed: () => db.keyDestroyed() }),
        );
        return row === undefined ? { outcome: "refused" } : { outcome: "changed", row };
      } catch (error) {
        if (error instanceof UploadSweptError) return { outcome: "upload_swept" };
        throw error;
      }
    },
    end: (request, together) =>
      db.write(async (tx) => {
        const ended = await steps.end(tx, request);
        if (ended) await together?.(tx);
        return ended;
      }),
    recordRefusal: (pushId, audit) => db.write((tx) => steps.recordRefusal(tx, pushId, audit)),
    record: (pushId, audit) => db.write((tx) => steps.record(tx, pushId, audit)),
    hasDownload: async (pushId, address, since) =>
      (await db.read.one(downloadBy, pushId, auditKinds.download, address, since)) !== undefined,
    list: async (ownerId, state, now, limit, offset) =>
      (await db.read.all(listsByState[state], ownerId, now, limit, offset)).map((row) => readPushes.decode(row)),
    async addUpload(blobKey, now) {
      await db
        .autocommit({ retry: "whenNotExecuted" })
        .run(insertUpload, ...uploads.values({ blobKey, renewedAt: now }));
    },
    renewUploads: (renewals, now) =>
      db.write(async (tx) => {
        let renewed = 0;
        for (const { anonymousBytes, blobKey } of renewals) {
          renewed += await tx.run(renewUpload, anonymousBytes, now, blobKey);
        }
        return renewed === renewals.length;
      }),
    abandonUploads: (blobKeys) =>
      db.write(async (tx) => {
        for (const blobKey of blobKeys) {
          if ((await tx.run(takeUpload, blobKey)) === 1) await tx.run(queueBlob, blobKey);
        }
      }),
    linkDeliveries: createLinkDeliveries(db),
    viewNotifications: createViewNotifications(db, lists),
    lists,
    surveys: createSurveys(db.read),
    upkeep: createUpkeep(db, steps),
  };
}
