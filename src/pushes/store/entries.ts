import type { Transaction } from "../../database/database.ts";
import { sql } from "../../database/statement.ts";
import { type AuditRecord, auditKinds, foldedSequence, folds } from "../audit-trail.ts";

const insertEntry = sql<
  [
    pushId: number,
    sequence: number,
    kind: number,
    userId: number | null,
    address: string,
    userAgent: string,
    referrer: string,
    createdAt: number,
    updatedAt: number,
  ]
>(
  `INSERT INTO audit_entries (push_id, sequence, kind, user_id, address, user_agent, referrer, times, created_at, updated_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
   ON CONFLICT (push_id, sequence) DO UPDATE SET times = audit_entries.times + 1, user_id = excluded.user_id,
     address = excluded.address, user_agent = excluded.user_agent, referrer = excluded.referrer,
     updated_at = excluded.updated_at`,
);

/** In the transaction that has counted it. @param count events of the push so far, this one included. */
export async function writeEntry(tx: Transaction, pushId: number, count: number, audit: AuditRecord): Promise<void> {
  const { kind, userId, address, userAgent, referrer, at } = audit;
  const sequence = folds(kind, count) ? foldedSequence(kind) : count;
  const texts = [address, userAgent, referrer] as const;
  await tx.run(insertEntry, pushId, sequence, auditKinds.indexOf(kind), userId, ...texts, at, at);
}
