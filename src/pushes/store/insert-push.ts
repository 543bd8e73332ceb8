import { type Database, OutcomeUnknownError, type Transaction } from "../../database/database.ts";
import { sql, type Value } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import type { AccountStoredLinkKey } from "../stored-link-keys.ts";
import { auditKinds } from "../stored-values.ts";
import { type CreationKey, KeyUsedError, takeKey } from "./idempotency-keys.ts";
import { isCurrentSecret } from "./link-secrets.ts";
import {
  type LinkDeliveryRefusal,
  LinkDeliveryRefusedError,
  type NewLinkDelivery,
  putLinkDelivery,
} from "./notifications.ts";
import { auditEntries, type FileRow, newPushes, type PushRow, payloads } from "./tables.ts";
import {
  addToAnonymous,
  insertFiles,
  insertPayload,
  insertPush,
  lastRowSecret,
  UploadSweptError,
  writeEntry,
  writeRowSecret,
} from "./write-operations.ts";

export interface NewPush {
  readonly row: PushRow;
  readonly rowSecretSealed: Buffer;
  readonly payloadSealed: Buffer;
  readonly files: readonly FileRow[];
  readonly storedBytes: number;
  /** What the url_token in the row is sealed under; undefined: it has none, or no owner. */
  readonly storedLinkKey?: AccountStoredLinkKey | undefined;
  readonly key: CreationKey | undefined;
}

/**
 * `link_secret_replaced`: the account has another key of stored links now. Nothing was written. `repeated`: a push was inserted under the same idempotency key before. `upload_swept`: the upload of one of the files was
 * removed as an orphan.
 */
export type InsertOutcome = "inserted" | "link_secret_replaced" | "repeated" | "upload_swept" | LinkDeliveryRefusal;

/** Undoes the transaction. */
class LinkSecretReplacedError extends Error {
  override readonly name = "LinkSecretReplacedError";
}

/** Work in the transaction of a new push. It may be called twice, as the transaction may. */
export type WithPush = (tx: Transaction, pushId: number) => Promise<void>;

interface WrittenTogether {
  readonly linkDelivery?: NewLinkDelivery | undefined;
  readonly together?: WithPush | undefined;
}

type InsertDatabase = Pick<Database, "engine" | "hot" | "lookUp" | "write">;

export function insertWrites(db: InsertDatabase) {
  return {
    /**
     * Writes a new push with its key, payload and files, with what belongs to it, and with its first audit entry if it has an
     * owner, atomically.
     * @throws AppError unavailable when a request with a key stood still for too long.
     */
    async insertPush(push: NewPush, audit: AuditRecord, more: WrittenTogether = {}): Promise<InsertOutcome> {
      const { linkDelivery, together } = more;
      // Over a network each statement of a transaction is a round trip.
      if (db.engine === "postgres" && isAlone(push) && linkDelivery === undefined && together === undefined) {
        return await insertInOneStatement(db, push, audit);
      }
      const { row, storedLinkKey } = push;
      try {
        await db.write(async (tx) => {
          if (push.key !== undefined) await takeKey(tx, push.key);
          const values = pushValues(push, audit, await writeRowSecret(tx, row.id, push.rowSecretSealed));
          if (storedLinkKey === undefined) await tx.run(insertPush, ...values);
          else if ((await tx.run(insertLinkedPush, ...values, storedLinkKey.userId, storedLinkKey.secretId)) === 0) {
            throw new LinkSecretReplacedError();
          }
          if (row.ownerId === null) await addToAnonymous(tx, push.storedBytes);
          await tx.run(insertPayload, ...payloads.values({ pushId: row.id, sealed: push.payloadSealed }));
          if (push.files.length > 0) await insertFiles(tx, row.id, push.files);
          if (row.ownerId !== null) await writeEntry(tx, row.id, 1, audit);
          if (linkDelivery !== undefined) await putLinkDelivery(tx, row.id, linkDelivery);
          await together?.(tx, row.id);
        });
        return "inserted";
      } catch (error) {
        if (error instanceof LinkSecretReplacedError) return "link_secret_replaced";
        if (error instanceof KeyUsedError) return "repeated";
        if (error instanceof UploadSweptError) return "upload_swept";
        if (error instanceof LinkDeliveryRefusedError) return error.reason;
        // Ids are used once, so a row with this id is this push.
        const isThere = error instanceof OutcomeUnknownError && (await db.lookUp.one(pushExists, row.id)) !== undefined;
        if (!isThere) throw error;
        return "inserted";
      }
    },
  };
}

function isAlone(push: NewPush): push is NewPush & { readonly key: undefined } {
  return push.key === undefined && push.files.length === 0;
}

/** As `insertPush`, after which come the parameters of `isCurrentSecret`. Inserts nothing if the link secret was replaced. */
const insertLinkedPush = sql<Value[]>(newPushes.insertTextIf(isCurrentSecret, lastRowSecret));
const pushExists = sql<[pushId: number], { id: number }>("SELECT id FROM pushes WHERE id = ?");

function pushValues({ row, storedBytes }: NewPush, audit: AuditRecord, rowSecretId: number | null): Value[] {
  const creatorAddress = row.ownerId === null ? audit.address : null;
  return newPushes.values({ ...row, storedBytes, creatorAddress, rowSecretId });
}

// Ids are used once, so a second run after a lost answer finds the row of the first and writes nothing.
const pushWithKey = (insert: string) =>
  `WITH push AS (
     ${insert} ON CONFLICT (id) DO NOTHING RETURNING id, created_at
   ), key AS (
     INSERT INTO row_secrets (id, sealed) SELECT id, ? FROM push
   )`;
const insertPayloadOfPush = "INSERT INTO payloads (push_id, sealed) SELECT id, ? FROM push";
const firstEntry = auditEntries.insertFrom("push", {
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
});
const insertAnonymous = sql<Value[]>(`${pushWithKey(newPushes.insertText())} ${insertPayloadOfPush}`);
const ownedBy = (insert: string) =>
  sql<Value[]>(`${pushWithKey(insert)}, payload AS (${insertPayloadOfPush}) ${firstEntry}`);
const insertOwned = ownedBy(newPushes.insertText());
const insertLinked = ownedBy(newPushes.insertTextIf(isCurrentSecret).postgres);

/** Inserts a new push without files: its key, its payload and, if it has an owner, its first audit entry. */
async function insertInOneStatement(
  db: Pick<Database, "hot" | "lookUp">,
  push: NewPush & { readonly key: undefined },
  audit: AuditRecord,
): Promise<"inserted" | "link_secret_replaced"> {
  const { row, rowSecretSealed, payloadSealed, storedLinkKey } = push;
  const { userId, address, userAgent, referrer } = audit;
  const condition = storedLinkKey === undefined ? [] : [storedLinkKey.userId, storedLinkKey.secretId];
  const values = [...pushValues(push, audit, row.id), ...condition, rowSecretSealed, payloadSealed];
  if (row.ownerId === null) {
    await db.hot.insert(insertAnonymous, ...values);
    return "inserted";
  }
  const statement = storedLinkKey === undefined ? insertOwned : insertLinked;
  const written = await db.hot.insert(statement, ...values, userId, address, userAgent, referrer);
  if (written > 0 || storedLinkKey === undefined) return "inserted";
  // Nothing was written: another link secret, or the second run.
  return (await db.lookUp.one(pushExists, row.id)) === undefined ? "link_secret_replaced" : "inserted";
}
