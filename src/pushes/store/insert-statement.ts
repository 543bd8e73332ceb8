import type { Database } from "../../database/database.ts";
import { sql, type Value } from "../../database/statement.ts";
import { type AuditRecord, auditKinds } from "../audit-trail.ts";
import type { NewPush } from "../store.ts";
import { pushValues } from "./steps.ts";

// An id is used once, so a second run - after a lost answer - meets the first one's row and writes nothing.
const insertPush = sql<Value[]>(
  `WITH push AS (
     INSERT INTO pushes (id, token_digest, kind, owner_id, created_at, updated_at, expires_at, expire_after_days,
       expire_after_views, views, refusals, audit_count, deletable_by_viewer, retrieval_step, notify_on_view, seal_generation,
       data_key_id, stored_bytes, link_salt, passphrase_salt, token_sealed, name_sealed, note_sealed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING RETURNING id, created_at
   ), key AS (
     INSERT INTO data_keys (id, sealed) SELECT id, ? FROM push
   ), payload AS (
     INSERT INTO payloads (push_id, sealed) SELECT id, ? FROM push
   )
   INSERT INTO audit_entries (push_id, sequence, kind, user_id, address, user_agent, referrer, times, created_at, updated_at)
   SELECT id, 1, ${auditKinds.indexOf("creation")}, CAST(? AS BIGINT), ?, ?, ?, 1, created_at, created_at FROM push`,
);

/** A new push without files, its key, its payload and its first audit entry. */
export async function insertInOneStatement(
  db: Pick<Database, "hot">,
  push: NewPush,
  audit: AuditRecord,
): Promise<void> {
  await db.hot.insert(
    insertPush,
    ...pushValues(push, push.row.id),
    push.dataKeySealed,
    push.payloadSealed,
    audit.userId,
    audit.address,
    audit.userAgent,
    audit.referrer,
  );
}
