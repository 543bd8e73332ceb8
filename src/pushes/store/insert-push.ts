import { type Database, type Engine, OutcomeUnknownError, type Transaction } from "../../database/database.ts";
import { sql, type Value } from "../../database/statement.ts";
import { type AuditRecord, auditKinds } from "../audit/audit-trail.ts";
import { type CreationKey, CreationRepeatedError, insertCreationKey } from "./creation-keys.ts";
import {
  type LinkDeliveryRefusal,
  LinkDeliveryRefusedError,
  type NewLinkDelivery,
  putLinkDelivery,
} from "./notifications.ts";
import { auditEntries, type FileRow, newPushes, type PushRow, payloads } from "./tables.ts";
import {
  insertFiles,
  insertPayload,
  insertPushWith,
  UploadSweptError,
  type WriteOperations,
  writeEntry,
  writeRowSecret,
} from "./write-operations.ts";

export interface NewPush {
  readonly row: PushRow;
  readonly linkCheck: Buffer;
  readonly rowSecretSealed: Buffer;
  readonly payloadSealed: Buffer;
  readonly files: readonly FileRow[];
  readonly storedBytes: number;
}

/**
 * `repeated`: a push was inserted under the same idempotency key before. `upload_swept`: the upload of one of the files was
 * removed as an orphan.
 */
export type InsertOutcome = "inserted" | "repeated" | "upload_swept" | LinkDeliveryRefusal;

/** Work in the transaction of a new push. It may be called twice, as the transaction may. */
export type WithPush = (tx: Transaction, pushId: number) => Promise<void>;

interface WrittenTogether {
  readonly linkDelivery?: NewLinkDelivery | undefined;
  readonly creationKey?: CreationKey | undefined;
  readonly together?: WithPush | undefined;
}

type InsertDatabase = Pick<Database, "engine" | "hot" | "lookUp" | "write">;
type Operations = Pick<WriteOperations, "addToAnonymous">;

export function insertWrites(db: InsertDatabase, operations: Operations) {
  return {
    /**
     * Writes a new push with its key, payload and files, with what belongs to it, and with its first audit entry if it has an
     * owner, atomically.
     */
    async insertPush(push: NewPush, audit: AuditRecord, more: WrittenTogether = {}): Promise<InsertOutcome> {
      switch (db.engine) {
        case "sqlite":
          return await insertInTransaction(db, operations, push, audit, more);
        case "postgres":
          if (push.files.length > 0 || Object.values(more).some((part) => part !== undefined)) {
            return await insertInTransaction(db, operations, push, audit, more);
          }
          // Over a network each statement of a transaction is a round trip.
          await insertInOneStatement(db, push, audit);
          return "inserted";
      }
    },
  };
}

const insertPush = insertPushWith("");
const pushExists = sql<[pushId: number], { id: number }>("SELECT id FROM pushes WHERE id = ?");

async function insertInTransaction(
  db: InsertDatabase,
  operations: Operations,
  push: NewPush,
  audit: AuditRecord,
  { linkDelivery, creationKey, together }: WrittenTogether,
): Promise<InsertOutcome> {
  try {
    await db.write(async (tx) => {
      if (creationKey !== undefined) await insertCreationKey(tx, push.row.id, creationKey, audit.at);
      await writePush(tx, db.engine, operations, push, audit);
      if (push.row.ownerId !== null) await writeEntry(tx, push.row.id, 1, audit);
      if (linkDelivery !== undefined) await putLinkDelivery(tx, push.row.id, linkDelivery);
      await together?.(tx, push.row.id);
    });
    return "inserted";
  } catch (error) {
    if (error instanceof CreationRepeatedError) return "repeated";
    if (error instanceof UploadSweptError) return "upload_swept";
    if (error instanceof LinkDeliveryRefusedError) return error.reason;
    // Ids are used once, so a row with this id is this push.
    const isThere =
      error instanceof OutcomeUnknownError && (await db.lookUp.one(pushExists, push.row.id)) !== undefined;
    if (!isThere) throw error;
    return "inserted";
  }
}

async function writePush(
  tx: Transaction,
  engine: Engine,
  operations: Operations,
  push: NewPush,
  audit: AuditRecord,
): Promise<void> {
  const { row } = push;
  const rowSecretId = await writeRowSecret(tx, engine, row.id, push.rowSecretSealed);
  await tx.run(insertPush, ...pushValues(push, audit, rowSecretId));
  if (row.ownerId === null) await operations.addToAnonymous(tx, push.storedBytes);
  await tx.run(insertPayload, ...payloads.values({ pushId: row.id, sealed: push.payloadSealed }));
  await insertFiles(tx, row.id, push.files);
}

function pushValues({ row, linkCheck, storedBytes }: NewPush, audit: AuditRecord, rowSecretId: number | null): Value[] {
  const creatorAddress = row.ownerId === null ? audit.address : null;
  return newPushes.values({ ...row, linkCheck, storedBytes, creatorAddress, rowSecretId });
}

// Ids are used once, so a second run after a lost answer finds the row of the first and writes nothing.
const pushWithKey = `WITH push AS (
     ${newPushes.insertText()} ON CONFLICT (id) DO NOTHING RETURNING id, created_at
   ), key AS (
     INSERT INTO row_secrets (id, sealed) SELECT id, ? FROM push
   )`;
const insertPayloadOfPush = "INSERT INTO payloads (push_id, sealed) SELECT id, ? FROM push";
const insertAnonymous = sql<Value[]>(`${pushWithKey} ${insertPayloadOfPush}`);
const insertOwned = sql<Value[]>(
  `${pushWithKey}, payload AS (
     ${insertPayloadOfPush}
   )
   ${auditEntries.insertFrom("push", {
     pushId: "id",
     sequence: "1",
     kind: String(auditKinds.creation),
     userId: "CAST(? AS BIGINT)",
     address: "?",
     userAgent: "?",
     referrer: "?",
     times: "1",
     createdAt: "created_at",
     updatedAt: "created_at",
   })}`,
);

/** Inserts a new push without files: its key, its payload and, if it has an owner, its first audit entry. */
async function insertInOneStatement(db: Pick<Database, "hot">, push: NewPush, audit: AuditRecord): Promise<void> {
  const { row, rowSecretSealed, payloadSealed } = push;
  const values = [...pushValues(push, audit, row.id), rowSecretSealed, payloadSealed];
  if (row.ownerId === null) await db.hot.insert(insertAnonymous, ...values);
  else {
    const { userId, address, userAgent, referrer } = audit;
    await db.hot.insert(insertOwned, ...values, userId, address, userAgent, referrer);
  }
}
