import type { Database } from "../../database/database.ts";
import { sql, type Value } from "../../database/statement.ts";
import { type AuditRecord, auditKinds } from "../audit/audit-trail.ts";
import type { NewPush } from "../store.ts";
import { auditEntries, pushes } from "./tables.ts";
import { pushValues } from "./write-operations.ts";

// An id is used once, so a second run - after a lost answer - meets the first one's row and writes nothing.
const insertPush = sql<Value[]>(
  `WITH push AS (
     ${pushes.insertText()} ON CONFLICT (id) DO NOTHING RETURNING id, created_at
   ), key AS (
     INSERT INTO data_keys (id, sealed) SELECT id, ? FROM push
   ), payload AS (
     INSERT INTO payloads (push_id, sealed) SELECT id, ? FROM push
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
