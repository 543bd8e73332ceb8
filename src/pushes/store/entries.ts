import type { Transaction } from "../../database/database.ts";
import { type AuditRecord, foldedSequence, folds } from "../audit-trail.ts";
import { auditEntries } from "./tables.ts";

const insertEntry = auditEntries.insert(
  `ON CONFLICT (push_id, sequence) DO UPDATE SET times = audit_entries.times + 1, user_id = excluded.user_id,
     address = excluded.address, user_agent = excluded.user_agent, referrer = excluded.referrer,
     updated_at = excluded.updated_at`,
);

/** In the transaction that has counted it. @param count events of the push so far, this one included. */
export async function writeEntry(tx: Transaction, pushId: number, count: number, audit: AuditRecord): Promise<void> {
  const { kind, userId, address, userAgent, referrer, at } = audit;
  const sequence = folds(kind, count) ? foldedSequence(kind) : count;
  const entry = { pushId, sequence, kind, userId, address, userAgent, referrer, createdAt: at, updatedAt: at };
  await tx.run(insertEntry, ...auditEntries.values(entry));
}
