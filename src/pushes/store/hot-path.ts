import { type Database, OutcomeUnknownError } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import type { AuditRecord } from "../audit/audit-trail.ts";
import type { NewLinkDelivery } from "../notification-store.ts";
import type { InsertOutcome, NewPush, PushStore } from "../store.ts";
import { claimInOneStatement } from "./claim-view.ts";
import { insertInOneStatement } from "./insert-push.ts";
import { LinkDeliveryRefusedError, putLinkDelivery } from "./notifications.ts";
import { readPushes, type SealedPush, type StoredPush } from "./tables.ts";
import { type Steps, UploadSweptError } from "./write-operations.ts";

export type HotPath = Pick<PushStore, "insert" | "findSealed" | "claimView">;

/** What the hot path needs of a database. */
export type HotDatabase = Pick<Database, "engine" | "hot" | "lookUp" | "autocommit" | "write">;

type StoredSealedPush = StoredPush &
  Pick<SealedPush, "dataKeySealed" | "payloadSealed"> & { readonly hasFiles: number };

// Looked up apart, not joined: with a joined table SQLite plans the whole statement anew at every execution, since the
// bound digest might make a partial index fit. That cost seven times as much as the reading.
const sealedByDigest = sql<[tokenDigest: Buffer], StoredSealedPush>(
  `SELECT ${readPushes.selectList},
     (SELECT sealed FROM data_keys WHERE id = pushes.data_key_id AND pushes.ended_at IS NULL) AS dataKeySealed,
     (SELECT sealed FROM payloads WHERE push_id = pushes.id) AS payloadSealed,
     CASE WHEN EXISTS (SELECT 1 FROM files WHERE push_id = pushes.id) THEN 1 ELSE 0 END AS hasFiles
   FROM pushes WHERE token_digest = ?`,
);
const pushExists = sql<[pushId: number], { id: number }>("SELECT id FROM pushes WHERE id = ?");

/**
 * Making a push, reading it for a view, and counting that. SQLite runs the steps of a transaction without leaving the process;
 * over a network each would be a round trip, so PostgreSQL gets all of them in one statement.
 */
export function createHotPath(db: HotDatabase, steps: Steps): HotPath {
  const findSealed = (tokenDigest: Buffer) => readSealed(db, tokenDigest);
  if (db.engine === "sqlite") {
    return {
      findSealed,
      insert: (push, audit, linkDelivery) => insertInTransaction(db, steps, push, audit, linkDelivery),
      claimView: (claim) => db.write((tx) => steps.claimView(tx, claim)),
    };
  }
  return {
    findSealed,
    async insert(push, audit, linkDelivery) {
      if (push.files.length > 0 || linkDelivery !== undefined)
        return await insertInTransaction(db, steps, push, audit, linkDelivery);
      await insertInOneStatement(db, push, audit);
      return "inserted";
    },
    claimView: (claim) => claimInOneStatement(db, claim),
  };
}

async function readSealed({ hot }: HotDatabase, tokenDigest: Buffer): Promise<SealedPush | undefined> {
  const stored = await hot.read(sealedByDigest, tokenDigest);
  if (stored === undefined) return undefined;
  const { dataKeySealed, payloadSealed, hasFiles } = stored;
  return { row: readPushes.decode(stored), dataKeySealed, payloadSealed, hasFiles: hasFiles === 1 };
}

async function insertInTransaction(
  db: HotDatabase,
  steps: Steps,
  push: NewPush,
  audit: AuditRecord,
  linkDelivery: NewLinkDelivery | undefined,
): Promise<InsertOutcome> {
  try {
    await db.write(async (tx) => {
      await steps.insert(tx, push, audit);
      if (linkDelivery !== undefined) await putLinkDelivery(tx, push.row.id, linkDelivery);
    });
    return "inserted";
  } catch (error) {
    if (error instanceof UploadSweptError) return "upload_swept";
    if (error instanceof LinkDeliveryRefusedError) return error.reason;
    // Ids are used once: a row of this id is this push.
    if (!(error instanceof OutcomeUnknownError) || !(await isThere(db, push.row.id))) throw error;
    return "inserted";
  }
}

async function isThere(db: HotDatabase, pushId: number): Promise<boolean> {
  return (await db.lookUp.one(pushExists, pushId)) !== undefined;
}
